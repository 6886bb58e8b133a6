package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var deploymentTable = resource.TableOf(func(d *appsv1.Deployment) []any {
	selected := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selected = s.String()
	}
	names, images := resource.Containers(d.Spec.Template.Spec.Containers)
	return []any{
		d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 0)),
		int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas), resource.AgeOf(d),
		names, images, selected,
	}
},
	resource.NameColumn,
	resource.Text("Ready", "Pods that are ready, of those there should be."),
	resource.Text("Up-to-date", "Pods of the newest template."),
	resource.Text("Available", "Pods that have been ready long enough."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn, selectorColumn,
)

func deploymentStrategy() resource.Strategy {
	r := resource.SplitCounted(func(d *appsv1.Deployment) (*appsv1.DeploymentSpec, *appsv1.DeploymentStatus) {
		return &d.Spec, &d.Status
	})
	update, keepSpec := r.PrepareForUpdate, r.PrepareForStatusUpdate
	r.PrepareForUpdate = func(d, old *appsv1.Deployment) { // annotations count too, for they go on to the replica sets
		update(d, old)
		if d.Generation == old.Generation && !check.Same(d.Annotations, old.Annotations) {
			d.Generation++
		}
	}
	r.PrepareForStatusUpdate = func(d, old *appsv1.Deployment) {
		keepSpec(d, old)
		d.Labels = old.Labels
	}
	r.Default = defaultDeployment
	r.Validate = validateDeployment
	r.ValidateUpdate = func(d, old *appsv1.Deployment) field.ErrorList {
		var f check.Errors
		f.Add(validateDeployment(d)...)
		f.Same(check.At("spec", "selector"), d.Spec.Selector, old.Spec.Selector)
		return f.List()
	}
	r.ValidateStatusUpdate = validateDeploymentStatus
	r.Warnings = func(d *appsv1.Deployment) []string {
		return podspec.TemplateWarnings(&d.Spec.Template, check.At("spec", "template"))
	}
	r.Scale = scale(
		func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas },
		func(d *appsv1.Deployment) int32 { return d.Status.Replicas },
		func(d *appsv1.Deployment) *metav1.LabelSelector { return d.Spec.Selector },
	)
	return r.Strategy()
}

func defaultDeployment(d *appsv1.Deployment) {
	s := &d.Spec
	podspec.DefaultTemplate(&s.Template)
	resource.SetDefault(&s.Replicas, 1)
	resource.SetDefault(&s.RevisionHistoryLimit, 10)
	resource.SetDefault(&s.ProgressDeadlineSeconds, 600)
	if s.Strategy.Type == "" {
		s.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if s.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return
	}
	if s.Strategy.RollingUpdate == nil {
		s.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
	}
	resource.SetDefault(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
	resource.SetDefault(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
}

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &d.Spec
	notNegative(&f, p.Child("replicas"), s.Replicas)
	validateReplicated(&f, p, s.Selector, &s.Template)
	rollout(&f, p.Child("strategy"), &s.Strategy)
	f.NotNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	notNegative(&f, p.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
	if n := s.ProgressDeadlineSeconds; n != nil {
		f.NotNegative(p.Child("progressDeadlineSeconds"), int64(*n))
		if *n <= s.MinReadySeconds {
			f.Invalid(p.Child("progressDeadlineSeconds"), n, "must be greater than minReadySeconds")
		}
	}
	return f.List()
}

func rollout(f *check.Errors, p *check.Path, s *appsv1.DeploymentStrategy) {
	at := p.Child("rollingUpdate")
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			f.Forbidden(at, "may not be specified when strategy `type` is 'Recreate'")
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		r := s.RollingUpdate
		if r == nil || r.MaxUnavailable == nil || r.MaxSurge == nil {
			f.Required(at, "this should be defaulted and never be nil")
			return
		}
		f.CountOrPercent(at.Child("maxUnavailable"), *r.MaxUnavailable)
		f.CountOrPercent(at.Child("maxSurge"), *r.MaxSurge)
		if countOf(r.MaxUnavailable) == 0 && countOf(r.MaxSurge) == 0 {
			f.Invalid(at.Child("maxUnavailable"), *r.MaxUnavailable, "may not be 0 when `maxSurge` is 0")
		}
		f.NotOver100(at.Child("maxUnavailable"), *r.MaxUnavailable)
	default:
		f.Add(field.NotSupported(p.Field(), s, []appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
}

func validateDeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &d.Status
	f.NotNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	updated, ready := count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas}
	available := count{"availableReplicas", s.AvailableReplicas}
	countsNotNegative(&f, p, count{"replicas", s.Replicas}, updated, ready, available, count{"unavailableReplicas", s.UnavailableReplicas})
	notNegative(&f, p.Child("terminatingReplicas"), s.TerminatingReplicas)
	notNegative(&f, p.Child("collisionCount"), s.CollisionCount)
	requireAtMost(&f, p, s.Replicas, "cannot be greater than status.replicas", updated, ready, available)
	requireAtMost(&f, p, s.ReadyReplicas, "cannot be greater than readyReplicas", available)
	notDecremented(&f, p, s.CollisionCount, old.Status.CollisionCount)
	return f.List()
}
