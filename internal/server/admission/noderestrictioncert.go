package admission

import (
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// podCertificate allows a kubelet to request certificates for the pods that it runs. A UID other than the present
// one gets a conflict instead of a rejection: the kubelet may not have seen the change yet, and should retry.
func (w nodeWrite) podCertificate() error {
	if w.r.Verb != Create {
		return forbid(w.r, fmt.Errorf("unexpected operation %v", w.r.Verb))
	}
	if w.r.Subresource != "" {
		return forbid(w.r, fmt.Errorf("unexpected subresource %v", w.r.Subresource))
	}
	spec := w.r.Object.(*certificatesv1.PodCertificateRequest).Spec
	if string(spec.NodeName) != w.name {
		return forbid(w.r, fmt.Errorf("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", spec.NodeName, w.name))
	}
	obj, err := w.named("node", "nodes", "", w.name, w.name)
	if err != nil {
		return err
	}
	id := w.r.Namespace + "/" + spec.PodName
	if uid := obj.(*corev1.Node).UID; uid != spec.NodeUID {
		return internal(fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", id, spec.NodeUID, uid))
	}
	if obj, err = w.named("pod", "pods", w.r.Namespace, spec.PodName, id); err != nil {
		return err
	}
	pod := obj.(*corev1.Pod)
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	switch {
	case pod.UID != spec.PodUID:
		return internal(fmt.Errorf("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", id, spec.PodUID, pod.UID))
	case pod.Spec.NodeName != w.name:
		return forbid(w.r, fmt.Errorf("pod %q is not running on node %q named in the PodCertificateRequest", id, w.name))
	case mirror:
		return forbid(w.r, fmt.Errorf("pod %q is a mirror pod", id))
	case pod.Spec.ServiceAccountName != spec.ServiceAccountName:
		return forbid(w.r, fmt.Errorf("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)", id, spec.ServiceAccountName, pod.Spec.ServiceAccountName))
	}
	account := w.r.Namespace + "/" + spec.ServiceAccountName
	if obj, err = w.named("service account", "serviceaccounts", w.r.Namespace, spec.ServiceAccountName, account); err != nil {
		return err
	}
	if uid := obj.(*corev1.ServiceAccount).UID; uid != spec.ServiceAccountUID {
		return internal(fmt.Errorf("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)", id, spec.ServiceAccountUID, uid))
	}
	return nil
}

// named returns an object that the request names.
func (w nodeWrite) named(what, resource, namespace, name, id string) (runtime.Object, error) {
	obj, err := w.Lookup.Get(w.ctx, core(resource), namespace, name)
	if err == nil {
		return obj, nil
	}
	err = fmt.Errorf("while retrieving %s %q named in the PodCertificateRequest: %w", what, id, err)
	if apierrors.IsNotFound(err) {
		return nil, internal(err)
	}
	return nil, forbid(w.r, err)
}
