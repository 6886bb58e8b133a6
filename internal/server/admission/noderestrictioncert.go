package admission

import (
	"fmt"
	"net/http"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// podCertificate allows a kubelet to request certificates for the pods that it runs. A missing object, and a UID other than
// the present one, get a failure without a reason, as in kube-apiserver, where it may be a cache that lags behind.
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
		return unsure(fmt.Errorf("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", id, spec.NodeUID, uid))
	}
	if obj, err = w.named("pod", "pods", w.r.Namespace, spec.PodName, id); err != nil {
		return err
	}
	pod := obj.(*corev1.Pod)
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	switch {
	case pod.UID != spec.PodUID:
		return unsure(fmt.Errorf("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", id, spec.PodUID, pod.UID))
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
		return unsure(fmt.Errorf("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)", id, spec.ServiceAccountUID, uid))
	}
	return w.refuse(w.signer(pod, &spec))
}

// signer restricts a node to the signers in the volumes of its pod, and to those allowed by the verb
// request-serviceaccounts-podcertificate-signer. For the authorizer, a signer's slash is a colon.
func (w nodeWrite) signer(pod *corev1.Pod, spec *certificatesv1.PodCertificateRequestSpec) error {
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.PodCertificate != nil && s.PodCertificate.SignerName == spec.SignerName {
				return nil
			}
		}
	}
	allowed, err := w.may("request-serviceaccounts-podcertificate-signer", strings.ReplaceAll(spec.SignerName, "/", ":"), spec.ServiceAccountName)
	switch {
	case allowed:
		return nil
	case err != nil:
		return fmt.Errorf("error authorizing %s to request podcertificaterequests for signer %q: %w", w.r.User.Name, spec.SignerName, err)
	}
	return fmt.Errorf("pod %q does not mount a podCertificate projected volume for signer %q", w.r.Namespace+"/"+spec.PodName, spec.SignerName)
}

// unsure returns the 500 error for a request that may be right.
func unsure(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// named returns an object that the request names.
func (w nodeWrite) named(what, resource, namespace, name, id string) (runtime.Object, error) {
	obj, err := w.get(core(resource), namespace, name)
	if err == nil {
		return obj, nil
	}
	err = fmt.Errorf("while retrieving %s %q named in the PodCertificateRequest: %w", what, id, err)
	if apierrors.IsNotFound(err) {
		return nil, unsure(err)
	}
	return nil, forbid(w.r, err)
}
