// Package autoscaling describes the horizontal pod autoscaler, served as
// autoscaling/v2 and v1 and stored as v2.
package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	hpa := resource.NamespaceScoped[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](
		autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers").
		WithShortNames("hpa").WithCategories("all").WithStatus().
		WithTable(autoscalerTable).WithStrategy(strategy())
	v1 := resource.VersionOf[autoscalingv1.HorizontalPodAutoscaler, autoscalingv1.HorizontalPodAutoscalerList]("v1")
	v1.ToStorage, v1.FromStorage = toV2, fromV2
	hpa.Versions = append(hpa.Versions, v1)
	return []*resource.Resource{hpa}
}

func strategy() resource.Strategy {
	r := resource.SplitCounted(func(h *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscalerSpec, *autoscalingv2.HorizontalPodAutoscalerStatus) {
		return &h.Spec, &h.Status
	})
	r.Default = defaultAutoscaler
	r.Validate = func(h *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList { return validateAutoscaler(h, nil) }
	r.ValidateUpdate = validateAutoscaler
	r.ValidateStatusUpdate = validateAutoscalerStatus
	return r.Strategy()
}
