package volumes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// success is the status of a node that a plugin has nothing against.
var success framework.Status

// Restrictions keeps pods apart that cannot share a disk: of a claim that one pod
// may use at a time anywhere, and of disks that are attached to one node's one pod.
type Restrictions struct{}

func (Restrictions) Name() string { return "VolumeRestrictions" }
func (Restrictions) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	taken := false
	for _, name := range p.Claims {
		claim, v := claimOf(c, p, name)
		if !v.IsSuccess() {
			return nil, v
		}
		key := types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}
		taken = taken || slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) && c.ClaimUses[key] > 0
	}
	var disks []*corev1.Volume
	for i := range p.Pod.Spec.Volumes {
		v := &p.Pod.Spec.Volumes[i]
		if v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil {
			disks = append(disks, v)
		}
	}
	if !taken && disks == nil {
		return nil, success
	}
	inUse := framework.Unschedulable("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
	noDisk := framework.Unschedulable("node(s) had no available disk")
	return func(n *cache.NodeInfo) framework.Status {
		for _, other := range n.Pods {
			for i := range other.Pod.Spec.Volumes {
				if slices.ContainsFunc(disks, func(v *corev1.Volume) bool { return conflicts(v, &other.Pod.Spec.Volumes[i]) }) {
					return noDisk
				}
			}
		}
		if taken {
			return inUse
		}
		return success
	}, success
}

// conflicts says whether two pods' volumes are one disk that they cannot share.
func conflicts(a, b *corev1.Volume) bool {
	switch {
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil:
		x, y := a.GCEPersistentDisk, b.GCEPersistentDisk
		return x.PDName == y.PDName && !(x.ReadOnly && y.ReadOnly)
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil:
		return a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID
	case a.ISCSI != nil && b.ISCSI != nil:
		return a.ISCSI.IQN == b.ISCSI.IQN && !(a.ISCSI.ReadOnly && b.ISCSI.ReadOnly)
	case a.RBD != nil && b.RBD != nil:
		x, y := a.RBD, b.RBD
		monitored := slices.ContainsFunc(x.CephMonitors, func(m string) bool { return slices.Contains(y.CephMonitors, m) })
		return monitored && x.RBDPool == y.RBDPool && x.RBDImage == y.RBDImage && !(x.ReadOnly && y.ReadOnly)
	}
	return false
}

func (Restrictions) EventsToRegister() framework.EventKind {
	return framework.VolumesChanged | framework.PodRemoved
}
func (Restrictions) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Kind != framework.PodRemoved || len(p.Claims) == 0 || e.Pod.Pod.Namespace == p.Pod.Namespace &&
		slices.ContainsFunc(e.Pod.Claims, func(name string) bool { return slices.Contains(p.Claims, name) })
}

// Limits keeps a node's volumes within what its drivers can attach there, as its
// CSINode tells.
type Limits struct{}

func (Limits) Name() string { return "NodeVolumeLimits" }
func (Limits) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	wanted := csiVolumes(c, p)
	if len(wanted) == 0 {
		return nil, success
	}
	full := framework.Unschedulable("node(s) exceed max volume count")
	return func(n *cache.NodeInfo) framework.Status {
		node, ok := c.Objects.CSINode(n.Name)
		if !ok {
			return success
		}
		there := attachedVolumes(c, n)
		for _, other := range n.Pods {
			for _, a := range csiVolumes(c, other) {
				there[a] = true
			}
		}
		count, more := map[string]int32{}, map[string]bool{} // of each driver, with what p adds
		for _, a := range wanted {
			if !there[a] {
				there[a], more[a.driver] = true, true
			}
		}
		for a := range there {
			count[a.driver]++
		}
		for driver := range more {
			if most, limited := attachLimit(node, driver); limited && count[driver] > most {
				return full
			}
		}
		return success
	}, success
}

// attachment is a volume on a node.
type attachment struct{ driver, volume string }

// attachedVolumes are the volumes that are attached to n, or are to be.
func attachedVolumes(c *cache.Cluster, n *cache.NodeInfo) map[attachment]bool {
	there := map[attachment]bool{}
	for _, a := range c.Objects.Attachments(n.Name) {
		if name := a.Spec.Source.PersistentVolumeName; name != nil {
			if pv, ok := c.Objects.Volume(*name); ok && pv.Spec.CSI != nil {
				there[attachment{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}] = true
			}
		}
	}
	return there
}

// csiVolumes are the volumes of CSI drivers that p brings to its node. A claim without a
// volume counts as one of its class's provisioner.
func csiVolumes(c *cache.Cluster, p *cache.PodInfo) (all []attachment) {
	for _, name := range p.Claims {
		claim, ok := c.Objects.Claim(p.Pod.Namespace, name)
		if !ok {
			continue
		}
		pv, ok := c.Objects.Volume(claim.Spec.VolumeName)
		switch {
		case ok && pv.Spec.CSI != nil:
			all = append(all, attachment{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle})
		case !ok:
			if class, ok := c.Objects.Class(classOf(claim)); ok && class.Provisioner != NoProvisioner {
				all = append(all, attachment{class.Provisioner, "claim " + claim.Namespace + "/" + name})
			}
		}
	}
	return all
}

func attachLimit(node *storagev1.CSINode, driver string) (int32, bool) {
	for i := range node.Spec.Drivers {
		if d := &node.Spec.Drivers[i]; d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return *d.Allocatable.Count, true
		}
	}
	return 0, false
}

func (Limits) EventsToRegister() framework.EventKind {
	return framework.VolumesChanged | framework.NodeAdded | framework.PodRemoved
}
func (Limits) QueueingHint(_ *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Kind != framework.PodRemoved || len(e.Pod.Claims) > 0
}

// Zone keeps pods to the zones and regions with which their volumes are labelled.
type Zone struct{}

var zoneKeys = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
}

// stableZoneKey is a key's name of today.
func stableZoneKey(zoneKey string) string {
	switch zoneKey {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return zoneKey
}

func (Zone) Name() string { return "VolumeZone" }
func (Zone) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	type demand struct {
		key    string
		values []string
	}
	var demands []demand
	for _, name := range mountedClaims(p.Pod) {
		pv, v := volumeWithZone(c, p, name)
		if !v.IsSuccess() {
			return nil, v
		}
		if pv == nil {
			continue // volumeBinding chooses it
		}
		for _, key := range zoneKeys {
			if v, ok := pv.Labels[key]; ok {
				demands = append(demands, demand{key, strings.Split(v, "__")})
			}
		}
	}
	if demands == nil {
		return nil, success
	}
	elsewhere := framework.Unresolvable("node(s) had no available volume zone")
	return func(n *cache.NodeInfo) framework.Status {
		if !slices.ContainsFunc(zoneKeys, func(key string) bool { _, ok := n.Node.Labels[key]; return ok }) {
			return success // a cluster that knows no zones
		}
		for _, d := range demands {
			v, ok := n.Node.Labels[d.key]
			if !ok {
				v, ok = n.Node.Labels[stableZoneKey(d.key)]
			}
			if !ok || !slices.Contains(d.values, v) {
				return elsewhere
			}
		}
		return success
	}, success
}

// mountedClaims are the claims that a pod names.
func mountedClaims(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
			names = append(names, v.ClaimName)
		}
	}
	return names
}

// volumeWithZone is the volume of a claim that p mounts; nil if it is to be chosen yet.
func volumeWithZone(c *cache.Cluster, p *cache.PodInfo, name string) (*corev1.PersistentVolume, framework.Status) {
	claim, v := claimOf(c, p, name)
	if !v.IsSuccess() {
		return nil, v
	}
	if claim.Spec.VolumeName != "" {
		pv, ok := c.Objects.Volume(claim.Spec.VolumeName)
		if !ok {
			return nil, framework.Unresolvable(fmt.Sprintf("persistentvolume %q not found", claim.Spec.VolumeName))
		}
		return pv, success
	}
	class, ok := c.Objects.Class(classOf(claim))
	switch {
	case classOf(claim) == "":
		return nil, framework.Unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
	case !ok:
		return nil, framework.Unresolvable(fmt.Sprintf("storageclass.storage.k8s.io %q not found", classOf(claim)))
	case !isDelayedBinding(class):
		return nil, framework.Unresolvable("PersistentVolume had no name")
	}
	return nil, success
}

func (Zone) EventsToRegister() framework.EventKind {
	return framework.VolumesChanged | framework.NodeAdded | framework.NodeChanged
}
func (Zone) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }
