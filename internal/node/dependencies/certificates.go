package dependencies

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// certificateKey returns the key of the PodCertificateRequest for a source of a volume. Its name, which is not that of
// the request, is one of the pod alone.
func certificateKey(pod *corev1.Pod, v *corev1.Volume, source int) Key {
	return Key{Certificate, pod.Namespace, strings.Join([]string{pod.Name, string(pod.UID), v.Name, strconv.Itoa(source)}, "/")}
}

// ProjectionOf returns the source of a pod's volume that a key of the kind Certificate stands for, or nil.
func ProjectionOf(pod *corev1.Pod, key Key) *corev1.PodCertificateProjection {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Projected == nil {
			continue
		}
		for j, s := range v.Projected.Sources {
			if s.PodCertificate != nil && certificateKey(pod, v, j) == key {
				return s.PodCertificate
			}
		}
	}
	return nil
}

var errNotIssued = errors.New("credential bundle is not issued yet")

// Issued returns the error about a certificate that a pod waits for; final reports that the request will not change.
func Issued(r *certificatesv1.PodCertificateRequest) (err error, final bool) {
	for _, c := range r.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case certificatesv1.PodCertificateRequestConditionTypeIssued:
			return nil, true
		case certificatesv1.PodCertificateRequestConditionTypeDenied:
			return fmt.Errorf("PodCertificateRequest was permanently denied: reason=%q message=%q", c.Reason, c.Message), true
		case certificatesv1.PodCertificateRequestConditionTypeFailed:
			return fmt.Errorf("PodCertificateRequest was permanently failed: reason=%q message=%q", c.Reason, c.Message), true
		}
	}
	return errNotIssued, false
}

// issued returns the error about the certificate of a key.
func issued(find Find, key Key) error {
	obj, err := find(key)
	if err == error(NotFound(key)) {
		return errNotIssued
	}
	if err == nil {
		err, _ = Issued(obj.(*certificatesv1.PodCertificateRequest))
	}
	return err
}
