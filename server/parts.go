package server

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// partOf holds, for subresources whose body is the whole object and whose rows
// have no rules of their own, what keeps everything of the old object but the
// part that may be changed through it.
var partOf = map[string]func(obj, old runtime.Object){
	"finalize": keepForFinalize,
	"approval": keepForApproval,
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
