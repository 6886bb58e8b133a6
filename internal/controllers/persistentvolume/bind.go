package persistentvolume

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/expansion"
)

// bind completes the binding of claim and volume, whichever of its writes exist already.
func (b *binder) bind(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	v, err := b.refer(ctx, c, v)
	if err != nil {
		return err
	}
	if v, err = b.volumePhase(ctx, v, corev1.VolumeBound, ""); err != nil {
		return err
	}
	if c, err = b.name(ctx, c, v); err != nil {
		return err
	}
	return b.claimPhase(ctx, c, corev1.ClaimBound, v)
}

// refer writes the claim into the volume.
func (b *binder) refer(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if ref := v.Spec.ClaimRef; ref != nil && ref.UID == c.UID {
		return v, nil
	}
	changed := v.DeepCopy()
	if !refersTo(v, c) {
		annotate(&changed.ObjectMeta, boundByUs, "yes")
	}
	changed.Spec.ClaimRef = reference(c)
	return b.volumes.API.Update(ctx, changed)
}

func reference(c *corev1.PersistentVolumeClaim) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
	}
}

// name writes the volume into the claim.
func (b *binder) name(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	changed := c.DeepCopy()
	dirty := false
	if c.Spec.VolumeName != v.Name {
		changed.Spec.VolumeName = v.Name
		annotate(&changed.ObjectMeta, boundByUs, "yes")
		dirty = true
	}
	if annotate(&changed.ObjectMeta, bindCompleted, "yes") {
		dirty = true
	}
	if !dirty {
		return c, nil
	}
	return b.claims.API.Namespace(c.Namespace).Update(ctx, changed)
}

// claimPhase writes the claim's phase and, from the volume, its access modes and capacity.
func (b *binder) claimPhase(ctx context.Context, c *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume) error {
	changed := c.DeepCopy()
	s := &changed.Status
	s.Phase = phase
	if v == nil {
		s.AccessModes, s.Capacity = nil, nil
	} else {
		s.AccessModes = slices.Clone(v.Spec.AccessModes)
		s.CurrentVolumeAttributesClassName = v.Spec.VolumeAttributesClassName
		// The capacity of a bound claim is written by the component that expands it.
		if c.Status.Phase != corev1.ClaimBound || s.Capacity == nil {
			s.Capacity = corev1.ResourceList{corev1.ResourceStorage: usable(v)}
		}
	}
	if apiequality.Semantic.DeepEqual(&c.Status, s) {
		return nil
	}
	_, err := b.claims.API.Namespace(c.Namespace).UpdateStatus(ctx, changed)
	return err
}

// usable returns the capacity of a volume, or that of its file system if a node has yet to expand it.
func usable(v *corev1.PersistentVolume) resource.Quantity {
	if former, err := resource.ParseQuantity(v.Annotations[expansion.PreResizeCapacity]); err == nil {
		return former
	}
	return v.Spec.Capacity[corev1.ResourceStorage]
}

func (b *binder) volumePhase(ctx context.Context, v *corev1.PersistentVolume, phase corev1.PersistentVolumePhase, message string) (*corev1.PersistentVolume, error) {
	if v.Status.Phase == phase {
		return v, nil
	}
	changed := v.DeepCopy()
	changed.Status.Phase, changed.Status.Message, changed.Status.Reason = phase, message, ""
	written, err := b.volumes.API.UpdateStatus(ctx, changed)
	if apierrors.IsNotFound(err) && phase == corev1.VolumeReleased {
		return v, nil
	}
	return written, err
}
