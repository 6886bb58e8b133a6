package server

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// partOf holds, for subresources whose body is the whole object, what keeps
// everything of the old object but the part that may be changed through it.
// Status has its own rules in each kind's strategy.
var partOf = map[string]func(obj, old runtime.Object){
	"finalize":            keepForFinalize,
	"approval":            keepForApproval,
	"ephemeralcontainers": keepForEphemeral,
	"resize":              keepForResize,
}

// keepForFinalize lets a namespace's own finalizers change.
func keepForFinalize(obj, old runtime.Object) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		ns.Status = old.(*corev1.Namespace).Status
	}
}

// hasSpecFinalizers says whether a namespace still waits for somebody.
func hasSpecFinalizers(obj runtime.Object) bool {
	ns, ok := obj.(*corev1.Namespace)
	return ok && len(ns.Spec.Finalizers) > 0
}

// keepForApproval lets the decision about a certificate request change.
func keepForApproval(obj, old runtime.Object) {
	csr, ok := obj.(*certificatesv1.CertificateSigningRequest)
	if !ok {
		return
	}
	was := old.(*certificatesv1.CertificateSigningRequest)
	conditions := csr.Status.Conditions
	was.DeepCopyInto(csr)
	csr.Status.Conditions = conditions
}

// keepForEphemeral lets ephemeral containers be added to a pod.
func keepForEphemeral(obj, old runtime.Object) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	added := pod.Spec.EphemeralContainers
	old.(*corev1.Pod).DeepCopyInto(pod)
	pod.Spec.EphemeralContainers = added
	countGeneration(pod, old.(*corev1.Pod))
}

// countGeneration counts a pod's generation up if its spec has changed.
func countGeneration(pod, old *corev1.Pod) {
	if !equality.Semantic.DeepEqual(pod.Spec, old.Spec) {
		pod.Generation = old.Generation + 1
	}
}

// keepForResize lets the resources of a pod's containers change.
func keepForResize(obj, old runtime.Object) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	asked := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	old.(*corev1.Pod).DeepCopyInto(pod)
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			for _, a := range asked {
				if a.Name == list[i].Name {
					list[i].Resources, list[i].ResizePolicy = a.Resources, a.ResizePolicy
				}
			}
		}
	}
	countGeneration(pod, old.(*corev1.Pod))
}
