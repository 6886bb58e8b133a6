package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DropUnserved clears the scheduling group of a pod or pod template, as kube-apiserver does while its feature gate
// GenericWorkload is off: there are no PodGroups, and the pod would wait for one forever. A group that the old
// object has stays. The warning is this server's own; kube-apiserver sends no warning.
func DropUnserved(obj, old runtime.Object) []string {
	spec, path := specOf(obj)
	if spec == nil || spec.SchedulingGroup == nil {
		return nil
	}
	if old != nil {
		if was, _ := specOf(old); was != nil && was.SchedulingGroup != nil {
			return nil
		}
	}
	spec.SchedulingGroup = nil
	return []string{path + ".schedulingGroup: dropped, since this server has no PodGroups: the pod is scheduled by itself"}
}

func specOf(obj runtime.Object) (*corev1.PodSpec, string) {
	if pod, ok := obj.(*corev1.Pod); ok {
		return &pod.Spec, "spec"
	}
	if t := TemplateOf(obj); t != nil {
		return &t.Spec, templatePath(obj) + ".spec"
	}
	return nil, ""
}
