package persistentvolume

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controllers/intree"
)

// temporary matches host paths that may be deleted with their volume.
var temporary = regexp.MustCompile("/tmp/.+")

// dispose deletes a released volume, unless its provisioner does. A volume without any deleter becomes Failed.
func (b *binder) dispose(ctx context.Context, v *corev1.PersistentVolume) error {
	maker, source := v.Annotations[provisionedBy], &v.Spec.PersistentVolumeSource
	switch {
	case v.DeletionTimestamp != nil:
		return nil
	case strings.HasPrefix(maker, intree.Prefix):
		return b.fail(ctx, v, "VolumeFailedDelete", "no volume plugin matched name: "+maker)
	case maker != "" || source.CSI != nil || intree.Plugin(v) != "":
		return nil
	case source.HostPath == nil:
		why := "no volume plugin matched"
		if source.NFS != nil {
			why = "no deletable volume plugin matched"
		}
		return b.fail(ctx, v, "VolumeFailedDelete", fmt.Sprintf("error getting deleter volume plugin for volume %q: %s", v.Name, why))
	case !temporary.MatchString(source.HostPath.Path):
		return b.fail(ctx, v, "VolumeFailedDelete", "host_path deleter only supports /tmp/.+ but received provided "+source.HostPath.Path)
	}
	err := b.volumes.API.Delete(ctx, v.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// fail records, once, why a volume can't be reclaimed.
func (b *binder) fail(ctx context.Context, v *corev1.PersistentVolume, reason, message string) error {
	if v.Status.Phase == corev1.VolumeFailed {
		return nil
	}
	v, err := b.volumePhase(ctx, v, corev1.VolumeFailed, message)
	if err == nil {
		b.rec.Event(v, corev1.EventTypeWarning, reason, "%s", message)
	}
	return err
}
