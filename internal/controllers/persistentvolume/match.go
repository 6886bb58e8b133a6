package persistentvolume

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// best returns the volume for a claim: one that refers to it already, or else the smallest matching one, the first
// by name among equals. With late binding only the former, because the scheduler picks among free ones. The result may be nil.
func (b *binder) best(c *corev1.PersistentVolumeClaim, late bool) (*corev1.PersistentVolume, error) {
	for _, v := range b.volumes.Store().ByIndex(byClaim, c.Namespace+"/"+c.Name) {
		if refersTo(v, c) && v.DeletionTimestamp == nil && satisfies(v, c) == nil {
			return v, nil
		}
	}
	if late {
		return nil, nil
	}
	return smallest(c, b.volumes.Store().List(""), func(*corev1.PersistentVolume) bool { return true })
}

// Match returns the volume for a claim among those that may accepts: one that refers to the claim already (nil and
// found if may rejects it), or else the smallest free one that satisfies it. It does not write.
func Match(c *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, may func(*corev1.PersistentVolume) bool) (v *corev1.PersistentVolume, found bool) {
	for _, v := range volumes {
		if refersTo(v, c) && v.DeletionTimestamp == nil && satisfies(v, c) == nil {
			if !may(v) {
				return nil, true
			}
			return v, true
		}
	}
	v, err := smallest(c, volumes, may)
	return v, err == nil && v != nil
}

// smallest returns the smallest free volume that satisfies c, the first by name among equals.
func smallest(c *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, may func(*corev1.PersistentVolume) bool) (best *corev1.PersistentVolume, err error) {
	selector := labels.Everything()
	if c.Spec.Selector != nil {
		if selector, err = metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil {
			return nil, err
		}
	}
	for _, v := range volumes {
		if v.Spec.ClaimRef != nil || v.DeletionTimestamp != nil || v.Status.Phase != corev1.VolumeAvailable ||
			!selector.Matches(labels.Set(v.Labels)) || satisfies(v, c) != nil || best != nil && !smaller(v, best) || !may(v) {
			continue
		}
		best = v
	}
	return best, nil
}

func smaller(a, b *corev1.PersistentVolume) bool {
	x, y := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
	if d := x.Cmp(y); d != 0 {
		return d < 0
	}
	return a.Name < b.Name
}

// satisfies returns an error if the volume does not match the claim.
func satisfies(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) error {
	want, have := c.Spec.Resources.Requests[corev1.ResourceStorage], v.Spec.Capacity[corev1.ResourceStorage]
	switch {
	case have.Cmp(want) < 0:
		return errors.New("requested PV is too small")
	case classOfVolume(v) != classOf(c):
		return errors.New("storageClassName does not match")
	case ptr.Deref(v.Spec.VolumeAttributesClassName, "") != ptr.Deref(c.Spec.VolumeAttributesClassName, ""):
		return errors.New("volumeAttributesClassName does not match")
	case modeOf(v.Spec.VolumeMode) != modeOf(c.Spec.VolumeMode):
		return errors.New("incompatible volumeMode")
	}
	for _, m := range c.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, m) {
			return errors.New("incompatible accessMode")
		}
	}
	return nil
}

func classOfVolume(v *corev1.PersistentVolume) string {
	if class, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return v.Spec.StorageClassName
}

func modeOf(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	return ptr.Deref(m, corev1.PersistentVolumeFilesystem)
}
