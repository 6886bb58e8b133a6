package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"fairlead.dev/internal/resource/check"
)

// metric requires the source that the metric's type names, and no other.
func metric(f *check.Errors, p *check.Path, m *autoscalingv2.MetricSpec) {
	if m.Type == "" {
		f.Required(p.Child("type"), "must specify a metric source type")
	}
	n, want := 0, ""
	var also []string
	source := func(name string, t autoscalingv2.MetricSourceType, set bool, look func(p *check.Path)) {
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
	source("object", autoscalingv2.ObjectMetricSourceType, m.Object != nil, func(p *check.Path) {
		reference(f, p.Child("describedObject"), m.Object.DescribedObject)
		segment(f, p.Child("metric", "name"), m.Object.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.Object.Target)
		if m.Object.Target.Value == nil && m.Object.Target.AverageValue == nil {
			f.Required(p.Child("target", "averageValue"), "must set either a target value or averageValue")
		}
	})
	source("external", autoscalingv2.ExternalMetricSourceType, m.External != nil, func(p *check.Path) {
		segment(f, p.Child("metric", "name"), m.External.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.External.Target)
		switch t := &m.External.Target; {
		case t.Value == nil && t.AverageValue == nil:
			f.Required(p.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target")
		case t.Value != nil && t.AverageValue != nil:
			f.Forbidden(p.Child("target", "value"), "may not set both a target value for metric and a per-pod target")
		}
	})
	source("pods", autoscalingv2.PodsMetricSourceType, m.Pods != nil, func(p *check.Path) {
		segment(f, p.Child("metric", "name"), m.Pods.Metric.Name, "must specify a metric name")
		metricTarget(f, p.Child("target"), &m.Pods.Target)
		if m.Pods.Target.AverageValue == nil {
			f.Required(p.Child("target", "averageValue"), "must specify a positive target averageValue")
		}
	})
	source("resource", autoscalingv2.ResourceMetricSourceType, m.Resource != nil, func(p *check.Path) {
		if m.Resource.Name == "" {
			f.Required(p.Child("name"), "must specify a resource name")
		}
		resourceTarget(f, p.Child("target"), &m.Resource.Target)
	})
	source("containerResource", autoscalingv2.ContainerResourceMetricSourceType, m.ContainerResource != nil, func(p *check.Path) {
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

func metricTarget(f *check.Errors, p *check.Path, t *autoscalingv2.MetricTarget) {
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

func resourceTarget(f *check.Errors, p *check.Path, t *autoscalingv2.MetricTarget) {
	metricTarget(f, p, t)
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		f.Required(p.Child("averageUtilization"), "must set either a target raw value or a target utilization")
	case t.AverageUtilization != nil && t.AverageValue != nil:
		f.Forbidden(p.Child("averageValue"), "may not set both a target raw value and a target utilization")
	}
}
