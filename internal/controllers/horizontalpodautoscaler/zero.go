package horizontalpodautoscaler

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

const belowLeast = "Current number of replicas below Spec.MinReplicas"

// leavesZero reports whether the target, which has no replicas, is scaled up again: the controller scaled it to zero,
// rather than a user, and has a metric that exists without pods, or may no longer leave it at zero.
func (p *pass) leavesZero(least int32) bool {
	scaled := slices.ContainsFunc(p.hpa.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == autoscalingv2.ScaledToZero && c.Status == corev1.ConditionTrue
	})
	return !p.options.NoScaleToZero && scaled && (least != 0 || p.measuresOutside())
}

// measuresOutside reports whether the autoscaler has a metric of another object than the pods.
func (p *pass) measuresOutside() bool {
	return slices.ContainsFunc(p.hpa.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	})
}

// setScaledToZero sets the condition after each change of the size, which tells a size of zero by the controller from
// one by a user.
func (p *pass) setScaledToZero(size int32) {
	if p.options.NoScaleToZero {
		p.unset(autoscalingv2.ScaledToZero)
	} else if size == 0 && p.measuresOutside() {
		p.set(autoscalingv2.ScaledToZero, true, "ScaledToZero", "the HPA controller scaled the workload to zero")
	} else {
		p.set(autoscalingv2.ScaledToZero, false, "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	}
}
