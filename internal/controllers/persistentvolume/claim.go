package persistentvolume

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

func (b *binder) syncClaim(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	if _, bound := c.Annotations[bindCompleted]; bound {
		return controller.Result{}, b.syncBound(ctx, c)
	}
	if c.Spec.VolumeName != "" {
		return b.syncNamed(ctx, c)
	}
	return b.syncFree(ctx, c)
}

// remind is the interval at which the event about a waiting claim is repeated.
const remind = 15 * time.Second

// waits ends a pass over a claim that stays pending.
func (b *binder) waits(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	return controller.Result{RequeueAfter: remind}, b.claimPhase(ctx, c, corev1.ClaimPending, nil)
}

// syncFree finds a volume for a claim without spec.volumeName.
func (b *binder) syncFree(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	class, known := b.classes.Store().Get("", classOf(c))
	late := known && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	v, err := b.best(c, late)
	if err != nil {
		return controller.Result{}, err
	}
	if v != nil {
		return controller.Result{}, b.bind(ctx, c, v)
	}
	if given, err := b.giveClass(ctx, c); given || err != nil {
		return controller.Result{}, err
	}
	_, placed := c.Annotations[selectedNode]
	switch {
	case late && !placed:
		b.tellConsumers(c)
	case known:
		return b.provision(ctx, c, class)
	case classOf(c) != "":
		b.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "storageclass.storage.k8s.io %q not found", classOf(c))
	default:
		b.rec.Event(c, corev1.EventTypeNormal, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	}
	return b.waits(ctx, c)
}

// syncNamed binds a claim with spec.volumeName.
func (b *binder) syncNamed(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	v, ok := b.volumes.Store().Get("", c.Spec.VolumeName)
	switch {
	case !ok:
	case v.Spec.ClaimRef == nil:
		err := satisfies(v, c)
		if err == nil {
			return controller.Result{}, b.bind(ctx, c, v)
		}
		b.rec.Event(c, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind to requested volume %q: %s", v.Name, err)
	case refersTo(v, c):
		return controller.Result{}, b.bind(ctx, c, v)
	default:
		b.rec.Event(c, corev1.EventTypeWarning, "FailedBinding", "volume %q already bound to a different claim.", v.Name)
		if c.Annotations[boundByUs] != "" {
			return controller.Result{}, fmt.Errorf("invalid binding of claim %s/%s to volume %q: volume already claimed by %s/%s",
				c.Namespace, c.Name, v.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
		}
	}
	return b.waits(ctx, c)
}

// syncBound checks a claim whose binding was completed before. Before the claim is marked as lost, the volume is
// read from the server: the cache of volumes may be behind that of claims, and a claim that was lost for a moment
// can no longer be expanded.
func (b *binder) syncBound(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	if c.Spec.VolumeName == "" {
		return b.lost(ctx, c, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	}
	v, ok := b.volumes.Store().Get("", c.Spec.VolumeName)
	if !ok || !mayHold(v, c) {
		var err error
		v, err = b.volumes.API.Get(ctx, c.Spec.VolumeName)
		switch {
		case apierrors.IsNotFound(err):
			return b.lost(ctx, c, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
		case err != nil:
			return err
		case !mayHold(v, c):
			return b.lost(ctx, c, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
		}
	}
	return b.bind(ctx, c, v)
}

// mayHold reports whether a volume is unbound or bound to the claim.
func mayHold(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID == c.UID
}

func (b *binder) lost(ctx context.Context, c *corev1.PersistentVolumeClaim, reason, message string) error {
	if c.Status.Phase != corev1.ClaimLost {
		b.rec.Event(c, corev1.EventTypeWarning, reason, "%s", message)
	}
	return b.claimPhase(ctx, c, corev1.ClaimLost, nil)
}

// giveClass sets the default class in a claim without a class; the class may be newer than the claim.
func (b *binder) giveClass(ctx context.Context, c *corev1.PersistentVolumeClaim) (bool, error) {
	if c.Spec.StorageClassName != nil || c.Annotations[corev1.BetaStorageClassAnnotation] != "" {
		return false, nil
	}
	var best *storagev1.StorageClass
	for _, s := range b.classes.Store().List("") {
		if s.Annotations[defaultClass] != "true" && s.Annotations[defaultClassOld] != "true" {
			continue
		}
		// The newest one, and among these the first by name.
		if best == nil || best.CreationTimestamp.Before(&s.CreationTimestamp) ||
			best.CreationTimestamp.Equal(&s.CreationTimestamp) && s.Name < best.Name {
			best = s
		}
	}
	if best == nil {
		return false, nil
	}
	changed := c.DeepCopy()
	changed.Spec.StorageClassName = &best.Name
	_, err := b.claims.API.Namespace(c.Namespace).Update(ctx, changed)
	return true, err
}

func classOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

func refersTo(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && ref.Namespace == c.Namespace && ref.Name == c.Name && (ref.UID == "" || ref.UID == c.UID)
}

func annotate(m *metav1.ObjectMeta, key, value string) bool {
	if m.Annotations[key] == value {
		return false
	}
	metav1.SetMetaDataAnnotation(m, key, value)
	return true
}
