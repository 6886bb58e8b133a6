package scheduler

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// volumeRestrictions keeps pods apart that cannot share a disk: of a claim that one pod
// may use at a time anywhere, and of disks that are attached to one node's one pod.
type volumeRestrictions struct{}

func (volumeRestrictions) Name() string { return "VolumeRestrictions" }
func (volumeRestrictions) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	taken := false
	for _, name := range p.claims {
		claim, v := c.claim(p, name)
		if !v.Fits() {
			return nil, v
		}
		key := types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}
		taken = taken || slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) && c.claims[key] > 0
	}
	var disks []*corev1.Volume
	for i := range p.Pod.Spec.Volumes {
		v := &p.Pod.Spec.Volumes[i]
		if v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil {
			disks = append(disks, v)
		}
	}
	if !taken && disks == nil {
		return nil, fits
	}
	inUse := No("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
	noDisk := No("node(s) had no available disk")
	return func(n *NodeInfo) Verdict {
		for _, other := range n.pods {
			for i := range other.Pod.Spec.Volumes {
				if slices.ContainsFunc(disks, func(v *corev1.Volume) bool { return clashes(v, &other.Pod.Spec.Volumes[i]) }) {
					return noDisk
				}
			}
		}
		if taken {
			return inUse
		}
		return fits
	}, fits
}

// clashes says whether two pods' volumes are one disk that they cannot share.
func clashes(a, b *corev1.Volume) bool {
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

func (volumeRestrictions) Events() EventKind { return VolumesChanged | PodRemoved }
func (volumeRestrictions) Helps(p *PodInfo, e *Event) bool {
	return e.Kind != PodRemoved || len(p.claims) == 0 || e.Pod.Pod.Namespace == p.Pod.Namespace &&
		slices.ContainsFunc(e.Pod.claims, func(name string) bool { return slices.Contains(p.claims, name) })
}

// volumeLimits keeps a node's volumes within what its drivers can attach there, as its
// CSINode tells.
type volumeLimits struct{}

func (volumeLimits) Name() string { return "NodeVolumeLimits" }
func (volumeLimits) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	wanted := c.attached(p)
	if len(wanted) == 0 {
		return nil, fits
	}
	full := No("node(s) exceed max volume count")
	return func(n *NodeInfo) Verdict {
		node, ok := c.objects.CSINode(n.name)
		if !ok {
			return fits
		}
		there := map[attachment]bool{}
		for _, other := range n.pods {
			for _, a := range c.attached(other) {
				there[a] = true
			}
		}
		count := map[string]int32{} // of each driver, with what p adds
		for _, a := range wanted {
			if !there[a] {
				count[a.driver]++
				there[a] = true
			}
		}
		for a := range there {
			if !slices.Contains(wanted, a) && count[a.driver] > 0 {
				count[a.driver]++
			}
		}
		for _, a := range wanted {
			if most, limited := limit(node, a.driver); limited && count[a.driver] > most {
				return full
			}
		}
		return fits
	}, fits
}

// attachment is a volume on a node.
type attachment struct{ driver, volume string }

// attached are the volumes of CSI drivers that p brings to its node. A claim without a
// volume counts as one of its class's provisioner.
func (c *Cluster) attached(p *PodInfo) (all []attachment) {
	for _, name := range p.claims {
		claim, ok := c.objects.Claim(p.Pod.Namespace, name)
		if !ok {
			continue
		}
		pv, ok := c.objects.Volume(claim.Spec.VolumeName)
		switch {
		case ok && pv.Spec.CSI != nil:
			all = append(all, attachment{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle})
		case !ok:
			if class, ok := c.objects.Class(classOf(claim)); ok && class.Provisioner != noProvisioner {
				all = append(all, attachment{class.Provisioner, "claim " + claim.Namespace + "/" + name})
			}
		}
	}
	return all
}

func limit(node *storagev1.CSINode, driver string) (int32, bool) {
	for i := range node.Spec.Drivers {
		if d := &node.Spec.Drivers[i]; d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return *d.Allocatable.Count, true
		}
	}
	return 0, false
}

func (volumeLimits) Events() EventKind { return VolumesChanged | NodeAdded | PodRemoved }
func (volumeLimits) Helps(_ *PodInfo, e *Event) bool {
	return e.Kind != PodRemoved || len(e.Pod.claims) > 0
}

// volumeZone keeps pods to the zones and regions with which their volumes are labelled.
type volumeZone struct{}

var zoneKeys = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
}

// today is a key's name of today.
func today(zoneKey string) string {
	switch zoneKey {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return zoneKey
}

func (volumeZone) Name() string { return "VolumeZone" }
func (volumeZone) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	type demand struct {
		key    string
		values []string
	}
	var demands []demand
	for _, name := range p.claims {
		claim, v := c.claim(p, name)
		if !v.Fits() {
			return nil, v
		}
		pv, ok := c.objects.Volume(claim.Spec.VolumeName)
		if !ok {
			continue // volumeBinding's to judge
		}
		for _, key := range zoneKeys {
			if v, ok := pv.Labels[key]; ok {
				demands = append(demands, demand{key, strings.Split(v, "__")})
			}
		}
	}
	if demands == nil {
		return nil, fits
	}
	elsewhere := Never("node(s) had no available volume zone")
	return func(n *NodeInfo) Verdict {
		if !slices.ContainsFunc(zoneKeys, func(key string) bool { _, ok := n.Node.Labels[key]; return ok }) {
			return fits // a cluster that knows no zones
		}
		for _, d := range demands {
			v, ok := n.Node.Labels[d.key]
			if !ok {
				v, ok = n.Node.Labels[today(d.key)]
			}
			if !ok || !slices.Contains(d.values, v) {
				return elsewhere
			}
		}
		return fits
	}, fits
}

func (volumeZone) Events() EventKind           { return VolumesChanged | NodeAdded | NodeChanged }
func (volumeZone) Helps(*PodInfo, *Event) bool { return true }
