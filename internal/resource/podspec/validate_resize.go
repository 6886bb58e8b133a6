package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// ValidateResize returns the errors of a resize of a pod: only CPU and memory may change, and neither may be removed.
func ValidateResize(p, old *corev1.Pod) field.ErrorList {
	none := check.At("")
	if isMirror(old) {
		return field.ErrorList{field.Forbidden(none.Field(), "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(none.Field(), "windows pods cannot be resized")}
	}
	var f check.Errors
	validatePod(&f, p)
	path := check.At("spec")
	if now, was := QOSClass(p), QOSClass(old); now != was {
		f.Invalid(path, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing")
	}
	if !hasResources(old) {
		f.Forbidden(path, "Pod running on node without support for resize")
	}
	rest := p.Spec.DeepCopy()
	resizePod(&f, path, rest, &old.Spec)
	n := f.Len()
	requireSameContainers(&f, path.Child("containers"), p.Spec.Containers, old.Spec.Containers)
	requireSameContainers(&f, path.Child("initContainers"), p.Spec.InitContainers, old.Spec.InitContainers)
	if f.Len() > n {
		return f.List()
	}
	for i := range rest.InitContainers {
		resizeInit(&f, path, i, &rest.InitContainers[i], &old.Spec.InitContainers[i])
	}
	for i := range rest.Containers {
		now, was := &rest.Containers[i], &old.Spec.Containers[i]
		requireNotRemoved(&f, path.Child("containers").Index(i).Child("resources"), &now.Resources, &was.Resources, "resource")
		restoreResources(&now.Resources, &was.Resources)
		if !apiequality.Semantic.DeepEqual(now, was) {
			f.Forbidden(path, "only cpu and memory resources are mutable")
		}
	}
	if !apiequality.Semantic.DeepEqual(rest.Volumes, old.Spec.Volumes) {
		f.Forbidden(path.Child("volumes"), "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled")
	}
	if f.Len() == 0 && !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		f.Forbidden(path, "only cpu and memory resources are mutable")
	}
	return f.List()
}

// hasResources reports whether the kubelet of a pod that runs tells the resources of its containers, as those that can resize do.
func hasResources(p *corev1.Pod) bool {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

// resizePod validates the resources of the whole pod, and restores the old ones.
func resizePod(f *check.Errors, path *check.Path, now, was *corev1.PodSpec) {
	if now.Resources == nil {
		if was.Resources != nil {
			f.Forbidden(path.Child("resources"), "pod-level resources cannot be removed")
		}
		return
	}
	old := was.Resources
	if old == nil {
		old = &corev1.ResourceRequirements{}
	}
	requireNotRemoved(f, path.Child("resources"), now.Resources, old, "pod-level resource")
	restoreResources(now.Resources, old)
	if !apiequality.Semantic.DeepEqual(now.Resources, old) {
		f.Forbidden(path, "only cpu and memory resources are mutable at pod-level")
	}
	now.Resources = was.Resources
}

// resizeInit validates one init container, and restores its old resources.
func resizeInit(f *check.Errors, path *check.Path, i int, now, was *corev1.Container) {
	at := path.Child("initContainers").Index(i)
	changed := !apiequality.Semantic.DeepEqual(now, was)
	requireNotRemoved(f, at.Child("resources"), &now.Resources, &was.Resources, "resource")
	restoreResources(&now.Resources, &was.Resources)
	if !apiequality.Semantic.DeepEqual(now, was) {
		f.Forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable")
	}
	if !changed || restarts(now) {
		return
	}
	for _, p := range now.ResizePolicy {
		if p.RestartPolicy == corev1.RestartContainer {
			f.Forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
		}
	}
}

// requireSameContainers requires the same containers in the same order.
func requireSameContainers(f *check.Errors, p *check.Path, now, was []corev1.Container) {
	kind := strings.TrimPrefix(p.String(), "spec.")
	if len(now) != len(was) {
		f.Forbidden(p, kind+" may not be added or removed on resize")
		return
	}
	for i := range now {
		if now[i].Name != was[i].Name {
			f.Forbidden(p.Index(i).Child("name"), kind+" may not be renamed or reordered on resize")
		}
	}
}

// requireNotRemoved requires that no quantity is removed.
func requireNotRemoved(f *check.Errors, p *check.Path, now, was *corev1.ResourceRequirements, what string) {
	if anyRemoved(now.Requests, was.Requests) {
		f.Forbidden(p.Child("requests"), what+" requests cannot be removed")
	}
	if anyRemoved(now.Limits, was.Limits) {
		f.Forbidden(p.Child("limits"), what+" limits cannot be removed")
	}
}

func anyRemoved(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// restoreResources restores the old CPU and memory.
func restoreResources(now, was *corev1.ResourceRequirements) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		restoreAmount(&now.Requests, was.Requests, name)
		restoreAmount(&now.Limits, was.Limits, name)
	}
}

func restoreAmount(now *corev1.ResourceList, was corev1.ResourceList, name corev1.ResourceName) {
	delete(*now, name)
	if amount, ok := was[name]; ok {
		if *now == nil {
			*now = corev1.ResourceList{}
		}
		(*now)[name] = amount
	}
}
