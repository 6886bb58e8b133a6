package volumes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/expansion"
	"fairlead.dev/internal/node/dependencies"
)

// grow enlarges the volume of a claim to the claim's present request. Each write is a state from which the next pass
// continues.
func (d *driver) grow(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	v, _ := d.volumes.Store().Get("", c.Spec.VolumeName)
	switch {
	case !expansion.Bound(v, c) || !isOurs(v): // the event of the volume's binding brings the claim back
		return nil
	case !expansion.Wanted(c):
		return d.settle(ctx, c, v)
	}
	user, err := d.user(ctx, c)
	if err != nil {
		return err
	}
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if have := v.Spec.Capacity[corev1.ResourceStorage]; have.Cmp(size) > 0 {
		size = have // the request was lowered in the meantime
	}
	if c, err = d.enlarge(ctx, c, v, size, user != nil); err != nil {
		return err
	}
	if user == nil {
		_, err = d.write(ctx, c, func(c *corev1.PersistentVolumeClaim) {
			expansion.Finish(&c.Status, size)
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, expansion.NodeExpansionNotRequired, "true")
		})
		if err == nil {
			d.resizer.Event(c, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
		}
		return err
	}
	return d.expandFileSystem(ctx, c, size, user)
}

func isOurs(v *corev1.PersistentVolume) bool {
	return v.Spec.CSI != nil && v.Spec.CSI.Driver == dependencies.Simulated
}

// enlarge does the part of external-resizer, unless it is done already. onNode leaves the file system to a node.
func (d *driver) enlarge(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume, size resource.Quantity, onNode bool) (*corev1.PersistentVolumeClaim, error) {
	state := expansion.StateOf(&c.Status, size)
	if expansion.IsOnNode(state) {
		return c, nil
	}
	var err error
	if state != corev1.PersistentVolumeClaimControllerResizeInProgress {
		c, err = d.write(ctx, c, func(c *corev1.PersistentVolumeClaim) {
			expansion.Begin(&c.Status, size)
			delete(c.Annotations, expansion.NodeExpansionNotRequired)
		})
		if err != nil {
			return nil, err
		}
	}
	d.resizer.Event(c, corev1.EventTypeNormal, "Resizing", "External resizer is resizing volume %s", v.Name)
	changed := v.DeepCopy()
	expansion.Enlarge(changed, size, *c.Status.Capacity.Storage(), onNode)
	if _, err := d.volumes.API.Update(ctx, changed); err != nil || !onNode {
		return c, err
	}
	c, err = d.write(ctx, c, func(c *corev1.PersistentVolumeClaim) { expansion.AwaitNode(&c.Status) })
	if err == nil {
		d.resizer.Event(c, corev1.EventTypeNormal, "FileSystemResizeRequired", "Require file system resize of volume on node")
	}
	return c, err
}

// expandFileSystem does the part of the kubelet of a pod that uses the volume.
func (d *driver) expandFileSystem(ctx context.Context, c *corev1.PersistentVolumeClaim, size resource.Quantity, user *corev1.Pod) error {
	c, err := d.write(ctx, c, func(c *corev1.PersistentVolumeClaim) { expansion.ExpandOnNode(&c.Status) })
	if err != nil {
		return err
	}
	if _, err = d.write(ctx, c, func(c *corev1.PersistentVolumeClaim) { expansion.Finish(&c.Status, size) }); err != nil {
		return err
	}
	kubelet := d.resizer.From("kubelet", user.Spec.NodeName)
	const message = "MountVolume.NodeExpandVolume succeeded for volume %q %s"
	kubelet.Event(user, corev1.EventTypeNormal, "FileSystemResizeSuccessful", message, c.Spec.VolumeName, user.Spec.NodeName)
	kubelet.Event(c, corev1.EventTypeNormal, "FileSystemResizeSuccessful", message, c.Spec.VolumeName, user.Spec.NodeName)
	return nil
}

// settle removes the annotation with the former capacity from a volume whose claim has the new one.
func (d *driver) settle(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	if !expansion.IsSettled(c, v) {
		return nil
	}
	changed := v.DeepCopy()
	delete(changed.Annotations, expansion.PreResizeCapacity)
	_, err := d.volumes.API.Update(ctx, changed)
	return err
}

// user returns a running pod that has mounted the file system of a claim, or nil.
func (d *driver) user(ctx context.Context, c *corev1.PersistentVolumeClaim) (*corev1.Pod, error) {
	if c.Spec.VolumeMode != nil && *c.Spec.VolumeMode == corev1.PersistentVolumeBlock {
		return nil, nil
	}
	pods, err := d.pods.Namespace(c.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=" + string(corev1.PodRunning)})
	if err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		if dependencies.UsesClaim(p, c.Name) {
			return p, nil
		}
	}
	return nil, nil
}

// write writes the status and the annotations of a claim.
func (d *driver) write(ctx context.Context, c *corev1.PersistentVolumeClaim, change func(*corev1.PersistentVolumeClaim)) (*corev1.PersistentVolumeClaim, error) {
	changed := c.DeepCopy()
	change(changed)
	return d.claims.API.Namespace(c.Namespace).UpdateStatus(ctx, changed)
}
