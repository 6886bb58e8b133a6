package persistentvolume

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/controller"
)

func (b *binder) syncVolume(ctx context.Context, v *corev1.PersistentVolume) (controller.Result, error) {
	return controller.Result{}, b.tend(ctx, v)
}

func (b *binder) tend(ctx context.Context, v *corev1.PersistentVolume) error {
	ref := v.Spec.ClaimRef
	if ref == nil || ref.UID == "" { // available, or reserved for a claim that does not exist yet
		_, err := b.volumePhase(ctx, v, corev1.VolumeAvailable, "")
		return err
	}
	c, err := b.claimed(ctx, v)
	switch {
	case err != nil:
		return err
	case c == nil:
		return b.release(ctx, v)
	case c.Spec.VolumeName == "":
		if modeOf(c.Spec.VolumeMode) != modeOf(v.Spec.VolumeMode) {
			b.rec.Event(v, corev1.EventTypeWarning, "VolumeMismatch",
				"Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", c.Name)
			b.rec.Event(c, corev1.EventTypeWarning, "VolumeMismatch",
				"Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", v.Name)
		}
		return nil // the claim's loop completes the binding
	case c.Spec.VolumeName == v.Name:
		_, err := b.volumePhase(ctx, v, corev1.VolumeBound, "")
		return err
	}
	// The claim has another volume.
	if v.Annotations[provisionedBy] != "" && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		return b.release(ctx, v)
	}
	return b.unbind(ctx, v)
}

// claimed returns the claim that a volume refers to by name and UID; nil if it is gone. A missing claim is
// confirmed with the server, not only in the cache.
func (b *binder) claimed(ctx context.Context, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	ref := v.Spec.ClaimRef
	c, ok := b.claims.Store().Get(ref.Namespace, ref.Name)
	if ok && c.UID == ref.UID {
		return c, nil
	}
	if v.Status.Phase == corev1.VolumeReleased || v.Status.Phase == corev1.VolumeFailed {
		return nil, nil
	}
	c, err := b.claims.API.Namespace(ref.Namespace).Get(ctx, ref.Name)
	if apierrors.IsNotFound(err) || err == nil && c.UID != ref.UID {
		return nil, nil
	}
	return c, err
}

// release marks a volume whose claim is gone as released and applies its reclaim policy.
func (b *binder) release(ctx context.Context, v *corev1.PersistentVolume) error {
	if v.Status.Phase != corev1.VolumeReleased && v.Status.Phase != corev1.VolumeFailed {
		written, err := b.volumePhase(ctx, v, corev1.VolumeReleased, "")
		if err != nil {
			return err
		}
		v = written
	}
	switch v.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRecycle:
		return b.fail(ctx, v, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
	case corev1.PersistentVolumeReclaimDelete:
		return b.dispose(ctx, v)
	}
	return nil
}

// unbind removes the claimRef from a volume: completely if this controller set it, else only the UID, so that the
// user's reservation stays.
func (b *binder) unbind(ctx context.Context, v *corev1.PersistentVolume) error {
	changed := v.DeepCopy()
	if _, ours := changed.Annotations[boundByUs]; ours {
		changed.Spec.ClaimRef = nil
		delete(changed.Annotations, boundByUs)
	} else {
		changed.Spec.ClaimRef.UID = ""
	}
	written, err := b.volumes.API.Update(ctx, changed)
	if err != nil {
		return err
	}
	_, err = b.volumePhase(ctx, written, corev1.VolumeAvailable, "")
	return err
}
