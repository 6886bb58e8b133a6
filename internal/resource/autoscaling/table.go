package autoscaling

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	table "fairlead.dev/internal/resource"
)

var autoscalerTable = table.TableOf(func(h *autoscalingv2.HorizontalPodAutoscaler) []any {
	least := table.Unset
	if h.Spec.MinReplicas != nil {
		least = fmt.Sprint(*h.Spec.MinReplicas)
	}
	return []any{
		h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targets(h), least,
		int64(h.Spec.MaxReplicas), int64(h.Status.CurrentReplicas), table.AgeOf(h),
	}
},
	table.NameColumn,
	table.Text("Reference", "What is scaled."),
	table.Text("Targets", "What is measured, and what it should be."),
	table.Text("MinPods", "The fewest pods."),
	table.Text("MaxPods", "The most pods."),
	table.Text("Replicas", "How many pods there are."),
	table.AgeColumn,
)

// targets words the first two metrics and counts the rest.
func targets(h *autoscalingv2.HorizontalPodAutoscaler) string {
	if len(h.Spec.Metrics) == 0 {
		return table.None
	}
	var words []string
	for i := range h.Spec.Metrics {
		var status autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			status = h.Status.CurrentMetrics[i]
		}
		words = append(words, target(&h.Spec.Metrics[i], &status))
	}
	if len(words) > 2 {
		return fmt.Sprintf("%s + %d more...", strings.Join(words[:2], ", "), len(words)-2)
	}
	return strings.Join(words, ", ")
}

func target(m *autoscalingv2.MetricSpec, s *autoscalingv2.MetricStatus) string {
	switch {
	case m.Type == autoscalingv2.ExternalMetricSourceType && m.External != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.External != nil {
			now = &s.External.Current
		}
		return valueOrAverage(&m.External.Target, now)
	case m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.Object != nil {
			now = &s.Object.Current
		}
		return valueOrAverage(&m.Object.Target, now)
	case m.Type == autoscalingv2.PodsMetricSourceType && m.Pods != nil:
		now := table.Unknown
		if s.Pods != nil {
			now = amount(s.Pods.Current.AverageValue)
		}
		return now + "/" + amount(m.Pods.Target.AverageValue)
	case m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.Resource != nil {
			now = &s.Resource.Current
		}
		return fmt.Sprintf("%s: %s", m.Resource.Name, averageOrShare(&m.Resource.Target, now))
	case m.Type == autoscalingv2.ContainerResourceMetricSourceType && m.ContainerResource != nil:
		var now *autoscalingv2.MetricValueStatus
		if s.ContainerResource != nil {
			now = &s.ContainerResource.Current
		}
		return fmt.Sprintf("%s: %s", m.ContainerResource.Name, averageOrShare(&m.ContainerResource.Target, now))
	}
	return "<unknown type>"
}

func valueOrAverage(t *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := table.Unknown
	if t.AverageValue != nil {
		if now != nil && now.AverageValue != nil {
			current = amount(now.AverageValue)
		}
		return fmt.Sprintf("%s/%s (avg)", current, amount(t.AverageValue))
	}
	if now != nil {
		current = amount(now.Value)
	}
	return current + "/" + amount(t.Value)
}

func averageOrShare(t *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := table.Unknown
	if t.AverageValue != nil {
		if now != nil {
			current = amount(now.AverageValue)
		}
		return current + "/" + amount(t.AverageValue)
	}
	if now != nil && now.AverageUtilization != nil {
		current = fmt.Sprintf("%d%%", *now.AverageUtilization)
	}
	want := "<auto>"
	if t.AverageUtilization != nil {
		want = fmt.Sprintf("%d%%", *t.AverageUtilization)
	}
	return current + "/" + want
}

func amount(q *resource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}
