package autoscaling

import (
	"encoding/json"
	"fmt"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Version 1 has a field for the CPU metric only. All other metrics are stored in these annotations, as JSON.
const (
	metricsAnnotation    = "autoscaling.alpha.kubernetes.io/metrics"
	statusesAnnotation   = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation   = "autoscaling.alpha.kubernetes.io/behavior"
	upAnnotation         = "autoscaling.alpha.kubernetes.io/scale-up-tolerance"
	downAnnotation       = "autoscaling.alpha.kubernetes.io/scale-down-tolerance"
)

func withoutAnnotations(a map[string]string) map[string]string {
	a = maps.Clone(a)
	for _, key := range []string{metricsAnnotation, statusesAnnotation, conditionsAnnotation, behaviorAnnotation, upAnnotation, downAnnotation} {
		delete(a, key)
	}
	return a
}

// behavior is how the annotation spells the scaling behavior: by Go's names.
type behavior struct {
	ScaleUp, ScaleDown *scalingRules
}

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *autoscalingv2.ScalingPolicySelect
	Policies                   []scalingPolicy
	Tolerance                  *resource.Quantity
}

type scalingPolicy struct {
	Type                 autoscalingv2.HPAScalingPolicyType
	Value, PeriodSeconds int32
}

// isCPU reports whether version 1 has a field for the metric.
func isCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil &&
		m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

func toV2(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("autoscaling/v1: not a HorizontalPodAutoscaler: %T", obj)
	}
	out := &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration,
			LastScaleTime:      in.Status.LastScaleTime,
			CurrentReplicas:    in.Status.CurrentReplicas,
			DesiredReplicas:    in.Status.DesiredReplicas,
		},
	}
	// Malformed annotations are dropped.
	var metrics []autoscalingv1.MetricSpec
	if read(in, metricsAnnotation, &metrics) {
		for i := range metrics {
			out.Spec.Metrics = append(out.Spec.Metrics, metricToV2(&metrics[i]))
		}
	}
	if percent := in.Spec.TargetCPUUtilizationPercentage; percent != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*percent))
	}
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
	}
	if percent := in.Status.CurrentCPUUtilizationPercentage; percent != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name:    corev1.ResourceCPU,
				Current: autoscalingv2.MetricValueStatus{AverageUtilization: percent},
			},
		}}
	}
	var statuses []autoscalingv1.MetricStatus
	if read(in, statusesAnnotation, &statuses) {
		out.Status.CurrentMetrics = make([]autoscalingv2.MetricStatus, len(statuses))
		for i := range statuses {
			out.Status.CurrentMetrics[i] = statusToV2(&statuses[i])
		}
	}
	var b behavior
	if read(in, behaviorAnnotation, &b) && b != (behavior{}) {
		out.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rulesToV2(b.ScaleUp), ScaleDown: rulesToV2(b.ScaleDown)}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	if read(in, conditionsAnnotation, &conditions) {
		out.Status.Conditions = make([]autoscalingv2.HorizontalPodAutoscalerCondition, len(conditions))
		for i, c := range conditions {
			out.Status.Conditions[i] = autoscalingv2.HorizontalPodAutoscalerCondition{
				Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
				LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
			}
		}
	}
	out.Annotations = withoutAnnotations(in.Annotations)
	return out, nil
}

func read(obj metav1.Object, annotation string, into any) bool {
	text, ok := obj.GetAnnotations()[annotation]
	return ok && json.Unmarshal([]byte(text), into) == nil
}

func fromV2(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("autoscaling/v2: not a HorizontalPodAutoscaler: %T", obj)
	}
	out := &autoscalingv1.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas,
			MaxReplicas:    in.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration,
			LastScaleTime:      in.Status.LastScaleTime,
			CurrentReplicas:    in.Status.CurrentReplicas,
			DesiredReplicas:    in.Status.DesiredReplicas,
		},
	}
	a := annotations{withoutAnnotations(in.Annotations)}
	var metrics []autoscalingv1.MetricSpec
	for i := range in.Spec.Metrics {
		if m := &in.Spec.Metrics[i]; !isCPU(m) {
			metrics = append(metrics, metricFromV2(m))
		} else if out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
	}
	var statuses []autoscalingv1.MetricStatus
	for i := range in.Status.CurrentMetrics {
		s := &in.Status.CurrentMetrics[i]
		statuses = append(statuses, statusFromV2(s))
		if s.Type == autoscalingv2.ResourceMetricSourceType && s.Resource != nil && s.Resource.Name == corev1.ResourceCPU && s.Resource.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = s.Resource.Current.AverageUtilization
		}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{
			Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	err := a.write(metricsAnnotation, metrics, len(metrics) > 0)
	if err == nil {
		err = a.write(statusesAnnotation, statuses, len(statuses) > 0)
	}
	if b := in.Spec.Behavior; err == nil && b != nil {
		err = a.write(behaviorAnnotation, behavior{rulesFromV2(b.ScaleUp), rulesFromV2(b.ScaleDown)}, true)
	}
	if err == nil {
		err = a.write(conditionsAnnotation, conditions, len(conditions) > 0)
	}
	out.Annotations = a.m
	return out, err
}

type annotations struct{ m map[string]string }

func (a *annotations) write(key string, value any, some bool) error {
	if !some {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if a.m == nil {
		a.m = map[string]string{}
	}
	a.m[key] = string(text)
	return nil
}

func rulesToV2(r *scalingRules) *autoscalingv2.HPAScalingRules {
	if r == nil {
		return nil
	}
	out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy(p))
	}
	return out
}

func rulesFromV2(r *autoscalingv2.HPAScalingRules) *scalingRules {
	if r == nil {
		return nil
	}
	out := &scalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, scalingPolicy(p))
	}
	return out
}
