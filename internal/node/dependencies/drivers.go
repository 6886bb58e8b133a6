package dependencies

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Simulated is the CSI driver, and the provisioner, of volumes that are simulated: every simulated node has it, and
// nothing needs to be attached.
const Simulated = "simulated.fairlead.dev"

// ProvisionerOf is the annotation of a claim by which its volume is asked for.
const ProvisionerOf = "volume.kubernetes.io/storage-provisioner"

// mounted is a volume that a CSI driver mounts.
type mounted struct {
	driver string
	name   string // of the volume
	handle string // the driver's name of it; empty for an inline volume, which is never attached
}

// csi returns the volume of a CSI driver that a node has to mount, nil for any other volume, or an error if that
// is not known.
func csi(pod *corev1.Pod, v *corev1.Volume, find Find) (*mounted, error) {
	if v.CSI != nil {
		return &mounted{driver: v.CSI.Driver, name: v.Name}, nil
	}
	c, err := claim(pod, v, find)
	if c == nil || err != nil || c.Annotations[ProvisionerOf] == Simulated {
		return nil, err
	}
	obj, err := find(Key{Kind: Volume, Name: c.Spec.VolumeName})
	if err != nil {
		return nil, fmt.Errorf("error processing PVC %s/%s: failed to fetch PV %s from API server: %v", c.Namespace, c.Name, c.Spec.VolumeName, err)
	}
	if s := obj.(*corev1.PersistentVolume).Spec.CSI; s != nil && s.Driver != Simulated {
		return &mounted{s.Driver, c.Spec.VolumeName, s.VolumeHandle}, nil
	}
	return nil, nil
}

// driverKeys returns the objects that decide whether a volume can be mounted, as far as the volume is known.
func driverKeys(pod *corev1.Pod, v *corev1.Volume, find Find) (keys []Key) {
	if c, _ := claim(pod, v, find); c != nil && c.Annotations[ProvisionerOf] != Simulated {
		keys = append(keys, Key{Kind: Volume, Name: c.Spec.VolumeName})
	}
	m, _ := csi(pod, v, find)
	if m == nil {
		return keys
	}
	keys = append(keys, Key{Kind: NodeDrivers, Name: pod.Spec.NodeName})
	if m.handle != "" {
		keys = append(keys, Key{Kind: Driver, Name: m.driver}, Key{Kind: Attachment, Name: m.attachment(pod)})
	}
	return keys
}

// attachment returns the name of the VolumeAttachment of a volume to the pod's node.
func (m *mounted) attachment(pod *corev1.Pod) string {
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte(m.handle+m.driver+pod.Spec.NodeName)))
}

// ready returns why the volume cannot be mounted: it is not attached, or its driver is not registered.
func (m *mounted) ready(pod *corev1.Pod, find Find) error {
	if m == nil {
		return nil
	}
	if m.handle != "" {
		if err := m.attached(pod, find); err != nil {
			return fmt.Errorf("MountVolume.WaitForAttach failed for volume %q : %w", m.name, err)
		}
	}
	obj, err := find(Key{Kind: NodeDrivers, Name: pod.Spec.NodeName})
	if n, ok := obj.(*storagev1.CSINode); err == nil && ok {
		if slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == m.driver }) {
			return nil
		}
	}
	return fmt.Errorf("MountVolume.SetUp failed for volume %q : driver name %s not found in the list of registered CSI drivers (CSINode %s)", m.name, m.driver, pod.Spec.NodeName)
}

// attached returns why a volume is not attached. Its CSIDriver may declare that it need not be.
func (m *mounted) attached(pod *corev1.Pod, find Find) error {
	if obj, err := find(Key{Kind: Driver, Name: m.driver}); err == nil {
		if asks := obj.(*storagev1.CSIDriver).Spec.AttachRequired; asks != nil && !*asks {
			return nil
		}
	}
	name := m.attachment(pod)
	obj, err := find(Key{Kind: Attachment, Name: name})
	if err != nil {
		return fmt.Errorf("volume %v has GET error for volume attachment %v: %v", m.handle, name, err)
	}
	switch a := obj.(*storagev1.VolumeAttachment); {
	case a.DeletionTimestamp != nil:
		return errors.New("volume attachment is being deleted")
	case a.Status.Attached:
		return nil
	case a.Status.AttachError != nil:
		return errors.New(a.Status.AttachError.Message)
	}
	return fmt.Errorf("volume %v is not attached for volume attachment %v", m.handle, name)
}
