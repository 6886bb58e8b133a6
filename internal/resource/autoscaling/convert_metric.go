package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

func metricToV2(m *autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	out := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		t := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &o.TargetValue}
		if o.AverageValue != nil {
			t = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: o.AverageValue}
			if !o.TargetValue.IsZero() {
				t.Value = &o.TargetValue
			}
		}
		out.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target),
			Target:          t,
			Metric:          autoscalingv2.MetricIdentifier{Name: o.MetricName, Selector: o.Selector},
		}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: p.MetricName, Selector: p.Selector},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &p.TargetAverageValue},
		}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv2.ResourceMetricSource{Name: r.Name, Target: share(r.TargetAverageUtilization, r.TargetAverageValue)}
	}
	if r := m.ContainerResource; r != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{
			Name: r.Name, Container: r.Container, Target: share(r.TargetAverageUtilization, r.TargetAverageValue),
		}
	}
	if e := m.External; e != nil {
		t := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, Value: e.TargetValue, AverageValue: e.TargetAverageValue}
		if e.TargetValue != nil {
			t.Type = autoscalingv2.ValueMetricType
		}
		out.External = &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: e.MetricName, Selector: e.MetricSelector}, Target: t,
		}
	}
	return out
}

func share(percent *int32, average *resource.Quantity) autoscalingv2.MetricTarget {
	t := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageUtilization: percent, AverageValue: average}
	if percent != nil {
		t.Type = autoscalingv2.UtilizationMetricType
	}
	return t
}

func metricFromV2(m *autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	out := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv1.ObjectMetricSource{
			Target:       autoscalingv1.CrossVersionObjectReference(o.DescribedObject),
			MetricName:   o.Metric.Name,
			TargetValue:  value(o.Target.Value),
			Selector:     o.Metric.Selector,
			AverageValue: o.Target.AverageValue,
		}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv1.PodsMetricSource{
			MetricName: p.Metric.Name, TargetAverageValue: value(p.Target.AverageValue), Selector: p.Metric.Selector,
		}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv1.ResourceMetricSource{
			Name: r.Name, TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue,
		}
	}
	if r := m.ContainerResource; r != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{
			Name: r.Name, Container: r.Container,
			TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue,
		}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv1.ExternalMetricSource{
			MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector,
			TargetValue: e.Target.Value, TargetAverageValue: e.Target.AverageValue,
		}
	}
	return out
}

func value(q *resource.Quantity) resource.Quantity {
	if q == nil {
		return resource.Quantity{}
	}
	return *q
}

func statusToV2(s *autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	out := autoscalingv2.MetricStatus{Type: autoscalingv2.MetricSourceType(s.Type)}
	if o := s.Object; o != nil {
		out.Object = &autoscalingv2.ObjectMetricStatus{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target),
			Metric:          autoscalingv2.MetricIdentifier{Name: o.MetricName, Selector: o.Selector},
			Current:         autoscalingv2.MetricValueStatus{Value: &o.CurrentValue, AverageValue: o.AverageValue},
		}
	}
	if p := s.Pods; p != nil {
		out.Pods = &autoscalingv2.PodsMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: p.MetricName, Selector: p.Selector},
			Current: autoscalingv2.MetricValueStatus{AverageValue: &p.CurrentAverageValue},
		}
	}
	if r := s.Resource; r != nil {
		out.Resource = &autoscalingv2.ResourceMetricStatus{
			Name:    r.Name,
			Current: autoscalingv2.MetricValueStatus{AverageValue: &r.CurrentAverageValue, AverageUtilization: r.CurrentAverageUtilization},
		}
	}
	if r := s.ContainerResource; r != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{
			Name: r.Name, Container: r.Container,
			Current: autoscalingv2.MetricValueStatus{AverageValue: &r.CurrentAverageValue, AverageUtilization: r.CurrentAverageUtilization},
		}
	}
	if e := s.External; e != nil {
		out.External = &autoscalingv2.ExternalMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: e.MetricName, Selector: e.MetricSelector},
			Current: autoscalingv2.MetricValueStatus{Value: &e.CurrentValue, AverageValue: e.CurrentAverageValue},
		}
	}
	return out
}

func statusFromV2(s *autoscalingv2.MetricStatus) autoscalingv1.MetricStatus {
	out := autoscalingv1.MetricStatus{Type: autoscalingv1.MetricSourceType(s.Type)}
	if o := s.Object; o != nil {
		out.Object = &autoscalingv1.ObjectMetricStatus{
			Target: autoscalingv1.CrossVersionObjectReference(o.DescribedObject), MetricName: o.Metric.Name,
			CurrentValue: value(o.Current.Value), Selector: o.Metric.Selector, AverageValue: o.Current.AverageValue,
		}
	}
	if p := s.Pods; p != nil {
		out.Pods = &autoscalingv1.PodsMetricStatus{
			MetricName: p.Metric.Name, CurrentAverageValue: value(p.Current.AverageValue), Selector: p.Metric.Selector,
		}
	}
	if r := s.Resource; r != nil {
		out.Resource = &autoscalingv1.ResourceMetricStatus{
			Name: r.Name, CurrentAverageUtilization: r.Current.AverageUtilization, CurrentAverageValue: value(r.Current.AverageValue),
		}
	}
	if r := s.ContainerResource; r != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricStatus{
			Name: r.Name, Container: r.Container,
			CurrentAverageUtilization: r.Current.AverageUtilization, CurrentAverageValue: value(r.Current.AverageValue),
		}
	}
	if e := s.External; e != nil {
		out.External = &autoscalingv1.ExternalMetricStatus{
			MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector,
			CurrentValue: value(e.Current.Value), CurrentAverageValue: e.Current.AverageValue,
		}
	}
	return out
}
