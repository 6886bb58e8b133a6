package apps

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var replicaSetTable = resource.TableOf(func(r *appsv1.ReplicaSet) []any {
	names, images := resource.Containers(r.Spec.Template.Spec.Containers)
	return []any{
		r.Name, int64(ptr.Deref(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), resource.AgeOf(r),
		names, images, formatSelector(r.Spec.Selector),
	}
},
	resource.NameColumn,
	resource.Integer("Desired", "How many pods there should be."),
	resource.Integer("Current", "How many pods there are."),
	resource.Integer("Ready", "How many pods are ready."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn, selectorColumn,
)

func replicaSetStrategy() resource.Strategy {
	r := resource.SplitCounted(func(r *appsv1.ReplicaSet) (*appsv1.ReplicaSetSpec, *appsv1.ReplicaSetStatus) {
		return &r.Spec, &r.Status
	})
	r.Default = func(r *appsv1.ReplicaSet) {
		podspec.DefaultTemplate(&r.Spec.Template)
		resource.SetDefault(&r.Spec.Replicas, 1)
	}
	r.Validate = validateReplicaSet
	r.ValidateUpdate = func(r, old *appsv1.ReplicaSet) field.ErrorList {
		var f check.Errors
		f.Add(validateReplicaSet(r)...)
		f.Same(check.At("spec", "selector"), r.Spec.Selector, old.Spec.Selector)
		return f.List()
	}
	r.ValidateStatusUpdate = validateReplicaSetStatus
	r.Warnings = func(r *appsv1.ReplicaSet) []string {
		return append(nameWarnings(r.Name), podspec.TemplateWarnings(&r.Spec.Template, check.At("spec", "template"))...)
	}
	r.Scale = scale(
		func(r *appsv1.ReplicaSet) **int32 { return &r.Spec.Replicas },
		func(r *appsv1.ReplicaSet) int32 { return r.Status.Replicas },
		func(r *appsv1.ReplicaSet) *metav1.LabelSelector { return r.Spec.Selector },
	)
	return r.Strategy()
}

// nameWarnings is for kinds whose names become part of pod names.
func nameWarnings(name string) []string {
	if msgs := validation.IsDNS1123Label(name); len(msgs) > 0 {
		return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs)}
	}
	return nil
}

func validateReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	notNegative(&f, p.Child("replicas"), r.Spec.Replicas)
	f.NotNegative(p.Child("minReadySeconds"), int64(r.Spec.MinReadySeconds))
	validateReplicated(&f, p, r.Spec.Selector, &r.Spec.Template)
	return f.List()
}

func validateReplicaSetStatus(r, _ *appsv1.ReplicaSet) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &r.Status
	labeled, ready := count{"fullyLabeledReplicas", s.FullyLabeledReplicas}, count{"readyReplicas", s.ReadyReplicas}
	available := count{"availableReplicas", s.AvailableReplicas}
	countsNotNegative(&f, p, count{"replicas", s.Replicas}, labeled, ready, available)
	f.NotNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	notNegative(&f, p.Child("terminatingReplicas"), s.TerminatingReplicas)
	requireAtMost(&f, p, s.Replicas, "cannot be greater than status.replicas", labeled, ready, available)
	requireAtMost(&f, p, s.ReadyReplicas, "cannot be greater than readyReplicas", available)
	return f.List()
}
