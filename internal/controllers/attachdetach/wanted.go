package attachdetach

import (
	"crypto/sha256"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// prefix is that of the names of CSI volumes in the status of nodes.
const prefix = "kubernetes.io/csi/"

// uniqueName returns the name of a volume in the status of nodes.
func uniqueName(s *corev1.CSIPersistentVolumeSource) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName(prefix + s.Driver + "^" + s.VolumeHandle)
}

// attachmentName returns the name of the VolumeAttachment of a volume and a node.
func attachmentName(handle, driver, node string) string {
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte(handle+driver+node)))
}

// claimsOf returns the claims of a pod's volumes, for the index.
func claimsOf(p *corev1.Pod) (keys []string) {
	for i := range p.Spec.Volumes {
		if name := claimName(p, &p.Spec.Volumes[i]); name != "" {
			keys = append(keys, controller.Key{Namespace: p.Namespace, Name: name}.String())
		}
	}
	return keys
}

// claimName returns the name of a volume's claim, or "".
func claimName(p *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return p.Name + "-" + v.Name
	}
	return ""
}

// claimOf returns the claim of a pod's volume, if it has one.
func (a *attacher) claimOf(p *corev1.Pod, v *corev1.Volume) (*corev1.PersistentVolumeClaim, bool) {
	c, ok := a.claims.Store().Get(p.Namespace, claimName(p, v))
	return c, ok && (v.Ephemeral == nil || metav1.IsControlledBy(c, p))
}

// uses reports whether a pod has a claim mounted, or will.
func (a *attacher) uses(p *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if p.Spec.NodeName == "" || ended(p) {
		return false
	}
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		c, ok := a.claimOf(p, &v)
		return ok && c.UID == claim.UID
	})
}

// ended reports whether a pod needs no volumes any more: it has finished, or is deleted and runs no container.
func ended(p *corev1.Pod) bool {
	if podcontrol.IsFinished(p) || p.DeletionTimestamp == nil {
		return podcontrol.IsFinished(p)
	}
	return !slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Terminated == nil && s.State.Waiting == nil
	})
}

// users returns the pods that use a volume, by node, sorted by name, whether or not the node is managed.
func (a *attacher) users(v *corev1.PersistentVolume) map[string][]*corev1.Pod {
	ref := v.Spec.ClaimRef
	if ref == nil {
		return nil
	}
	c, ok := a.claims.Store().Get(ref.Namespace, ref.Name)
	if !ok || c.UID != ref.UID || c.Spec.VolumeName != v.Name || c.Status.Phase != corev1.ClaimBound {
		return nil
	}
	byNode := map[string][]*corev1.Pod{}
	for _, p := range a.pods.Store().ByIndex(byClaim, controller.KeyOf(c).String()) {
		if a.uses(p, c) {
			byNode[p.Spec.NodeName] = append(byNode[p.Spec.NodeName], p)
		}
	}
	return byNode
}

// wanted returns the pods for which a volume must be attached, by node. v is nil if the volume does not exist.
func (a *attacher) wanted(v *corev1.PersistentVolume) map[string][]*corev1.Pod {
	if v == nil || v.Spec.CSI == nil || !a.attachable(v.Spec.CSI.Driver) {
		return nil
	}
	users := a.users(v)
	for name := range users {
		if n, ok := a.nodes.Store().Get("", name); !ok || !isManaged(n) {
			delete(users, name)
		}
	}
	return users
}

// simulated is the driver of simulated volumes, which has no CSIDriver.
const simulated = "simulated.fairlead.dev"

// attachable reports whether the volumes of a driver are attached.
func (a *attacher) attachable(driver string) bool {
	d, ok := a.drivers.Store().Get("", driver)
	return driver != simulated && (!ok || d.Spec.AttachRequired == nil || *d.Spec.AttachRequired)
}

// exclusive reports whether a volume may be attached to one node only.
func exclusive(v *corev1.PersistentVolume) bool {
	return len(v.Spec.AccessModes) > 0 && !slices.ContainsFunc(v.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany
	})
}

// nameOf returns the name of the volume of a VolumeAttachment in the status of its node: that of the volume or, if it
// is gone, the one that the node has. It is "" if none of them is.
func (a *attacher) nameOf(va *storagev1.VolumeAttachment, n *corev1.Node) corev1.UniqueVolumeName {
	if v, ok := a.volumes.Store().Get("", volumeOf(va)); ok && v.Spec.CSI != nil {
		return uniqueName(v.Spec.CSI)
	}
	if n == nil {
		return ""
	}
	names := slices.Clone(n.Status.VolumesInUse)
	for _, attached := range n.Status.VolumesAttached {
		names = append(names, attached.Name)
	}
	driver := prefix + va.Spec.Attacher + "^"
	at := slices.IndexFunc(names, func(name corev1.UniqueVolumeName) bool {
		return len(name) > len(driver) && string(name[:len(driver)]) == driver &&
			attachmentName(string(name[len(driver):]), va.Spec.Attacher, n.Name) == va.Name
	})
	if at < 0 {
		return ""
	}
	return names[at]
}
