package custom

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
)

func (v *version) strategy() resource.Strategy {
	r := resource.Rules[*resource.Untyped]{
		Default:                func(obj *resource.Untyped) { v.kind.setDefaults(&obj.Unstructured) },
		PrepareForCreate:       v.prepareCreate,
		PrepareForUpdate:       v.prepareUpdate,
		PrepareForStatusUpdate: prepareStatus,
		Warnings:               func(obj *resource.Untyped) []string { return finalizerWarnings(obj, nil) },
		UpdateWarnings:         finalizerWarnings,
		RequireResourceVersion: true,
	}
	if s := v.scale(); s != nil {
		r.Scale = scaleAccess(s)
	}
	return r.Strategy()
}

func (v *version) prepareCreate(obj *resource.Untyped) {
	if v.hasStatus() {
		delete(obj.Object, "status")
	}
	obj.SetGeneration(1)
}

func (v *version) prepareUpdate(obj, old *resource.Untyped) {
	if v.hasStatus() {
		restoreMember(obj, old, "status")
	}
	if !sameButMeta(obj.Object, old.Object) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// restoreMember restores the old object's member.
func restoreMember(obj, old *resource.Untyped, name string) {
	if was, ok := old.Object[name]; ok {
		obj.Object[name] = was
	} else {
		delete(obj.Object, name)
	}
}

func sameButMeta(a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, "metadata")
	delete(b, "metadata")
	return equality.Semantic.DeepEqual(a, b)
}

// prepareStatus restores everything except the status and the managed fields.
func prepareStatus(obj, old *resource.Untyped) {
	status, ok := obj.Object["status"]
	obj.Object = maps.Clone(old.Object)
	if meta, ok := old.Object["metadata"].(map[string]any); ok {
		obj.Object["metadata"] = maps.Clone(meta)
	}
	if ok {
		obj.Object["status"] = status
	} else {
		delete(obj.Object, "status")
	}
}

// finalizerWarnings warns of new finalizers whose names may collide.
func finalizerWarnings(obj, old *resource.Untyped) (list []string) {
	at := field.NewPath("metadata", "finalizers")
	names := obj.GetFinalizers()
	if old != nil {
		had := old.GetFinalizers()
		names = slices.DeleteFunc(slices.Clone(names), func(f string) bool { return slices.Contains(had, f) })
	}
	for _, f := range slices.Compact(slices.Sorted(slices.Values(names))) {
		for _, fault := range validation.IsQualifiedName(f) {
			list = append(list, fmt.Sprintf("%s: %q: %s", at, f, fault))
		}
		switch {
		case strings.Contains(f, "/"), f == metav1.FinalizerOrphanDependents, f == metav1.FinalizerDeleteDependents, f == string(corev1.FinalizerKubernetes):
		case strings.Contains(f, "."):
			list = append(list, fmt.Sprintf("%s: %q: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers", at, f))
		default:
			list = append(list, fmt.Sprintf("%s: %q: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", at, f))
		}
	}
	return list
}
