package persistentvolume

import (
	"cmp"
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller"
)

// builtin begins the names of provisioners that were once part of Kubernetes. Of those
// that made volumes drivers have taken over; kubernetes.io/no-provisioner is what a class
// names whose volumes are all made by hand.
const builtin = "kubernetes.io/"

var takenOver = map[string]string{
	"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
	"kubernetes.io/azure-disk":      "disk.csi.azure.com",
	"kubernetes.io/azure-file":      "file.csi.azure.com",
	"kubernetes.io/cinder":          "cinder.csi.openstack.org",
	"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
	"kubernetes.io/portworx-volume": "pxd.portworx.com",
	"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
}

// provision makes a simulated volume for the claim or, if the class has another
// provisioner, asks that one by an annotation and waits.
func (b *binder) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (controller.Result, error) {
	provisioner := cmp.Or(takenOver[class.Provisioner], class.Provisioner)
	if strings.HasPrefix(provisioner, builtin) {
		b.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "no volume plugin matched name: %s", provisioner)
		return b.waits(ctx, c)
	}
	changed := c.DeepCopy()
	asks := annotate(&changed.ObjectMeta, wantsFrom, provisioner)
	if annotate(&changed.ObjectMeta, wantsFromBeta, provisioner) || asks {
		written, err := b.claimAPI.Namespace(c.Namespace).Update(ctx, changed)
		if err != nil {
			return controller.Result{}, err
		}
		c = written
	}
	if provisioner != Provisioner {
		b.rec.Event(c, corev1.EventTypeNormal, "ExternalProvisioning",
			"Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner)
		return b.waits(ctx, c)
	}
	v, err := b.volumeAPI.Create(ctx, simulated(c, class))
	if apierrors.IsAlreadyExists(err) {
		v, err = b.volumeAPI.Get(ctx, volumeName(c))
		if err == nil && !refersTo(v, c) {
			err = apierrors.NewConflict(corev1.Resource("persistentvolumes"), v.Name, nil)
		}
	}
	if err != nil {
		b.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "Failed to provision volume with StorageClass %q: %v", class.Name, err)
		return controller.Result{}, err
	}
	b.rec.Event(c, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s using %s", v.Name, Provisioner)
	return controller.Result{}, b.bind(ctx, c, v)
}

func volumeName(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

// simulated describes the volume that the claim asks for.
func simulated(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        volumeName(c),
			Annotations: map[string]string{provisionedBy: Provisioner, boundByUs: "yes"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   c.Spec.AccessModes,
			ClaimRef:                      reference(c),
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			VolumeMode:                    c.Spec.VolumeMode,
			VolumeAttributesClassName:     c.Spec.VolumeAttributesClassName,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: Provisioner, VolumeHandle: volumeName(c),
			}},
		},
	}
	if node := c.Annotations[selectedNode]; node != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
	return v
}
