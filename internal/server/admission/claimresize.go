package admission

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ClaimResize allows a claim to grow only if it is bound and its storage class allows expansion.
type ClaimResize struct{ Lookup Lookup }

// Name implements Plugin.
func (ClaimResize) Name() string { return "PersistentVolumeClaimResize" }

// Validate implements Validator.
func (p ClaimResize) Validate(ctx context.Context, r *Request) error {
	if !r.on(Update, core("persistentvolumeclaims")) {
		return nil
	}
	claim, old := r.Object.(*corev1.PersistentVolumeClaim), r.Old.(*corev1.PersistentVolumeClaim)
	now, was := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if now.Cmp(was) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return forbid(r, errors.New("Only bound persistent volume claims can be expanded"))
	}
	if class := className(claim); class != "" && class == className(old) {
		obj, err := p.Lookup.Get(ctx, schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}, "", class)
		if err == nil {
			if may := obj.(*storagev1.StorageClass).AllowVolumeExpansion; may != nil && *may {
				return nil
			}
		}
	}
	return forbid(r, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
}

// className returns the class of a claim, from the field or the old annotation.
func className(c *corev1.PersistentVolumeClaim) string {
	if name, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}
