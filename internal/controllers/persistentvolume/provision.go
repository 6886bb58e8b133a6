package persistentvolume

import (
	"cmp"
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/intree"
)

// provision requests a volume from the class's provisioner, by an annotation, and waits.
func (b *binder) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (controller.Result, error) {
	provisioner := cmp.Or(intree.Driver(class.Provisioner), class.Provisioner)
	if strings.HasPrefix(provisioner, intree.Prefix) {
		b.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "no volume plugin matched name: %s", provisioner)
		return b.waits(ctx, c)
	}
	changed := c.DeepCopy()
	asks := annotate(&changed.ObjectMeta, wantsFrom, provisioner)
	if annotate(&changed.ObjectMeta, wantsFromBeta, provisioner) || asks {
		written, err := b.claims.API.Namespace(c.Namespace).Update(ctx, changed)
		if err != nil {
			return controller.Result{}, err
		}
		c = written
	}
	b.rec.Event(c, corev1.EventTypeNormal, "ExternalProvisioning",
		"Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner)
	return b.waits(ctx, c)
}
