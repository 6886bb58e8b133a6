package podspec

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource/check"
)

// ValidateResize reports the faults of a pod whose resources are changed while
// it runs: nothing but processor and memory, and none taken away.
func ValidateResize(p, old *corev1.Pod) field.ErrorList {
	none := field.NewPath("")
	if isMirror(old) {
		return field.ErrorList{field.Forbidden(none, "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(none, "windows pods cannot be resized")}
	}
	var f check.Faults
	pod(&f, p)
	path := field.NewPath("spec")
	if now, was := QOSClass(p), QOSClass(old); now != was {
		f.Invalid(path, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing")
	}
	if len(p.Spec.Containers) != len(old.Spec.Containers) {
		f.Forbidden(path.Child("containers"), "containers may not be added or removed on resize")
		return f.List()
	}
	if len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		f.Forbidden(path.Child("initContainers"), "initContainers may not be added or removed on resize")
		return f.List()
	}
	rest := p.Spec.DeepCopy()
	undo := func(p *field.Path, now, was []corev1.Container) {
		for i := range now {
			at := p.Index(i).Child("resources")
			if taken(now[i].Resources.Requests, was[i].Resources.Requests) {
				f.Forbidden(at.Child("requests"), "resource requests cannot be removed")
			}
			if taken(now[i].Resources.Limits, was[i].Resources.Limits) {
				f.Forbidden(at.Child("limits"), "resource limits cannot be removed")
			}
			undoResize(&now[i].Resources, &was[i].Resources)
		}
	}
	undo(path.Child("initContainers"), rest.InitContainers, old.Spec.InitContainers)
	undo(path.Child("containers"), rest.Containers, old.Spec.Containers)
	if rest.Resources != nil && old.Spec.Resources != nil {
		undoResize(rest.Resources, old.Spec.Resources)
	}
	if f.Len() == 0 && !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		f.Forbidden(path, "only cpu and memory resources are mutable")
	}
	return f.List()
}

func taken(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// undoResize gives processor and memory their old amounts.
func undoResize(now, was *corev1.ResourceRequirements) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		undoAmount(&now.Requests, was.Requests, name)
		undoAmount(&now.Limits, was.Limits, name)
	}
}

func undoAmount(now *corev1.ResourceList, was corev1.ResourceList, name corev1.ResourceName) {
	delete(*now, name)
	if amount, ok := was[name]; ok {
		if *now == nil {
			*now = corev1.ResourceList{}
		}
		(*now)[name] = amount
	}
}
