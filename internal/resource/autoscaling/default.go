package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource"
)

// defaultUtilization is the default target, in percent of the requested CPU.
const defaultUtilization = 80

func cpuMetric(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
		},
	}
}

func defaultAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	resource.SetDefault(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) == 0 {
		h.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
	}
	b := h.Spec.Behavior
	if b == nil {
		return
	}
	percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}
	pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15}
	if b.ScaleUp == nil {
		b.ScaleUp = &autoscalingv2.HPAScalingRules{}
	}
	resource.SetDefault(&b.ScaleUp.StabilizationWindowSeconds, 0)
	defaultRules(b.ScaleUp, pods, percent)
	if b.ScaleDown == nil {
		b.ScaleDown = &autoscalingv2.HPAScalingRules{}
	}
	defaultRules(b.ScaleDown, percent)
}

func defaultRules(r *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	resource.SetDefault(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
}
