package autoscaling

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource/check"
)

func validateAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var f check.Faults
	p, s := field.NewPath("spec"), &h.Spec
	if s.MinReplicas != nil && *s.MinReplicas < 1 {
		f.Invalid(p.Child("minReplicas"), *s.MinReplicas, "must be greater than or equal to 1")
	}
	at := p.Child("maxReplicas")
	switch {
	case s.MaxReplicas == 0:
		f.Required(at, "must be set and greater than 0")
	case s.MaxReplicas < 0:
		f.Invalid(at, s.MaxReplicas, "must be greater than or equal to 1")
	}
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		f.Invalid(at, s.MaxReplicas, "must be greater than or equal to `minReplicas`")
	}
	reference(&f, p.Child("scaleTargetRef"), s.ScaleTargetRef, true)
	for i := range s.Metrics {
		metric(&f, p.Child("metrics").Index(i), &s.Metrics[i])
	}
	if s.Behavior != nil {
		rules(&f, p.Child("behavior", "scaleUp"), s.Behavior.ScaleUp)
		rules(&f, p.Child("behavior", "scaleDown"), s.Behavior.ScaleDown)
	}
	return f.List()
}

func validateAutoscalerStatus(h, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	var f check.Faults
	f.NotNegative(field.NewPath("status", "currentReplicas"), int64(h.Status.CurrentReplicas))
	f.NotNegative(field.NewPath("status", "desiredReplicas"), int64(h.Status.DesiredReplicas))
	return f.List()
}

// segment wants a name that can stand in a URL.
func segment(f *check.Faults, p *field.Path, s, why string) {
	if s == "" {
		f.Required(p, why)
	} else {
		f.Each(p, s, path.IsValidPathSegmentName(s))
	}
}

func reference(f *check.Faults, p *field.Path, r autoscalingv2.CrossVersionObjectReference, coreAllowed bool) {
	segment(f, p.Child("kind"), r.Kind, "")
	segment(f, p.Child("name"), r.Name, "")
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err == nil && !coreAllowed && gv.Group == "" {
		err = errors.New("apiVersion must specify API group")
	}
	if err != nil {
		f.Invalid(p.Child("apiVersion"), r.APIVersion, err.Error())
	}
}

const longest = 3600 // seconds that rules look back

func rules(f *check.Faults, p *field.Path, r *autoscalingv2.HPAScalingRules) {
	if r == nil {
		return
	}
	at := p.Child("stabilizationWindowSeconds")
	if s := r.StabilizationWindowSeconds; s != nil && *s < 0 {
		f.Invalid(at, s, "must be greater than or equal to zero")
	} else if s != nil && *s > longest {
		f.Invalid(at, s, fmt.Sprintf("must be less than or equal to %d", longest))
	}
	if r.SelectPolicy != nil {
		check.Known(f, p.Child("selectPolicy"), *r.SelectPolicy,
			autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)
	}
	if len(r.Policies) == 0 {
		f.Required(p.Child("policies"), "must specify at least one Policy")
	}
	for i, policy := range r.Policies {
		at := p.Child("policies").Index(i)
		check.Known(f, at.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
		if policy.Value <= 0 {
			f.Invalid(at.Child("value"), policy.Value, "must be greater than zero")
		}
		if policy.PeriodSeconds <= 0 {
			f.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, "must be greater than zero")
		}
		if policy.PeriodSeconds > longest/2 {
			f.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, fmt.Sprintf("must be less than or equal to %d", longest/2))
		}
	}
	if r.Tolerance != nil {
		f.QuantityNotNegative(p.Child("tolerance"), *r.Tolerance)
	}
}

// metric wants the source that the metric's type names, and no other.
func metric(f *check.Faults, p *field.Path, m *autoscalingv2.MetricSpec) {
	if m.Type == "" {
		f.Required(p.Child("type"), "must specify a metric source type")
	}
	n, want := 0, ""
	var also []string
	source := func(name string, t autoscalingv2.MetricSourceType, set bool, look func(p *field.Path)) {
		if m.Type == t {
			want = name
			if !set {
				f.Required(p.Child(name), "must populate information for the given metric source")
			}
		}
		if !set {
			return
		}
		if n++; n == 1 {
			look(p.Child(name))
		}
		also = append(also, name)
	}
	source("object", autoscalingv2.ObjectMetricSourceType, m.Object != nil, func(p *field.Path) {
		reference(f, p.Child("describedObject"), m.Object.DescribedObject, true)
		segment(f, p.Child("metric", "name"), m.Object.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.Object.Target)
		if m.Object.Target.Value == nil && m.Object.Target.AverageValue == nil {
			f.Required(p.Child("target", "averageValue"), "must set either a target value or averageValue")
		}
	})
	source("external", autoscalingv2.ExternalMetricSourceType, m.External != nil, func(p *field.Path) {
		segment(f, p.Child("metric", "name"), m.External.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.External.Target)
		switch t := &m.External.Target; {
		case t.Value == nil && t.AverageValue == nil:
			f.Required(p.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target")
		case t.Value != nil && t.AverageValue != nil:
			f.Forbidden(p.Child("target", "value"), "may not set both a target value for metric and a per-pod target")
		}
	})
	source("pods", autoscalingv2.PodsMetricSourceType, m.Pods != nil, func(p *field.Path) {
		segment(f, p.Child("metric", "name"), m.Pods.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.Pods.Target)
		if m.Pods.Target.AverageValue == nil {
			f.Required(p.Child("target", "averageValue"), "must specify a positive target averageValue")
		}
	})
	source("resource", autoscalingv2.ResourceMetricSourceType, m.Resource != nil, func(p *field.Path) {
		if m.Resource.Name == "" {
			f.Required(p.Child("name"), "must specify a resource name")
		}
		resourceTarget(f, p.Child("target"), &m.Resource.Target)
	})
	source("containerResource", autoscalingv2.ContainerResourceMetricSourceType, m.ContainerResource != nil, func(p *field.Path) {
		if m.ContainerResource.Name == "" {
			f.Required(p.Child("name"), "must specify a resource name")
		} else {
			f.ContainerResourceName(p.Child("name"), m.ContainerResource.Name)
		}
		if m.ContainerResource.Container == "" {
			f.Required(p.Child("container"), "must specify a container")
		} else {
			f.Label(p.Child("container"), m.ContainerResource.Container)
		}
		resourceTarget(f, p.Child("target"), &m.ContainerResource.Target)
	})
	if want == "" {
		check.Known(f, p.Child("type"), m.Type, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
			autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)
	}
	if n == 1 {
		return
	}
	for _, name := range also {
		if name != want {
			f.Forbidden(p.Child(name), "must populate the given metric source only")
		}
	}
}

func metricTarget(f *check.Faults, p *field.Path, t *autoscalingv2.MetricTarget) {
	switch t.Type {
	case autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType:
	case "":
		f.Required(p.Child("type"), "must specify a metric target type")
		fallthrough
	default:
		f.Invalid(p.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue")
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		f.Invalid(p.Child("value"), t.Value, "must be positive")
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		f.Invalid(p.Child("averageValue"), t.AverageValue, "must be positive")
	}
	if n := t.AverageUtilization; n != nil && *n < 1 {
		f.Invalid(p.Child("averageUtilization"), n, "must be greater than 0")
	}
}

func resourceTarget(f *check.Faults, p *field.Path, t *autoscalingv2.MetricTarget) {
	metricTarget(f, p, t)
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		f.Required(p.Child("averageUtilization"), "must set either a target raw value or a target utilization")
	case t.AverageUtilization != nil && t.AverageValue != nil:
		f.Forbidden(p.Child("averageValue"), "may not set both a target raw value and a target utilization")
	}
}
