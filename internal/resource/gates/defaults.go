package gates

import (
	"fairlead.dev/internal/resource"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withoutDefault leaves a field unset that the client has not set. The field is nil in objects that have no place for it.
func withoutDefault[T runtime.Object, V any](r *resource.Resource, of func(T) **V) {
	set := r.Strategy.Default
	r.Strategy.Default = func(obj runtime.Object) {
		before := of(obj.(T))
		unset := before == nil || *before == nil
		if set(obj); !unset {
			return
		}
		if after := of(obj.(T)); after != nil {
			*after = nil
		}
	}
}

func maxUnavailable(s *appsv1.StatefulSet) **intstr.IntOrString {
	if s.Spec.UpdateStrategy.RollingUpdate == nil {
		return nil
	}
	return &s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable
}

func groupPolicy(g *schedulingv1beta1.PodGroup) **schedulingv1beta1.PreemptionPolicy {
	return &g.Spec.PreemptionPolicy
}

func compositePolicy(g *schedulingv1alpha3.CompositePodGroup) **schedulingv1alpha3.PreemptionPolicy {
	return &g.Spec.PreemptionPolicy
}

func preventScheduling(d *storagev1.CSIDriver) **bool { return &d.Spec.PreventPodSchedulingIfMissing }

// oneReplica refuses an autoscaler that may scale to zero, unless the old one may.
func oneReplica(h, old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	least := h.Spec.MinReplicas
	if least == nil || *least > 0 || old != nil && old.Spec.MinReplicas != nil && *old.Spec.MinReplicas == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "minReplicas"), *least, "must be greater than or equal to 1")}
}

// keepGeneration leaves the generation of a resource as it is.
func keepGeneration(r *resource.Resource) {
	s := &r.Strategy
	create, update := s.PrepareForCreate, s.PrepareForUpdate
	s.PrepareForCreate = func(obj runtime.Object) {
		o := obj.(resource.Object)
		sent := o.GetGeneration()
		create(obj)
		o.SetGeneration(sent)
	}
	s.PrepareForUpdate = func(obj, old runtime.Object) {
		update(obj, old)
		obj.(resource.Object).SetGeneration(old.(resource.Object).GetGeneration())
	}
}
