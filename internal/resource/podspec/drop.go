package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DropUnserved takes the scheduling group off a pod, or what pods are made of, as
// kube-apiserver does while its feature gate GenericWorkload is off: there is no PodGroup
// that the pod could belong to, and it would wait for one for ever. One that the old
// object has stays. The warning is this server's; kube-apiserver says nothing.
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
