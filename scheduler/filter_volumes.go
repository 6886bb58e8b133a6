package scheduler

import (
	"fmt"
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
		there := c.attachedTo(n)
		for _, other := range n.pods {
			for _, a := range c.attached(other) {
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
			if most, limited := limit(node, driver); limited && count[driver] > most {
				return full
			}
		}
		return fits
	}, fits
}

// attachment is a volume on a node.
type attachment struct{ driver, volume string }

// attachedTo are the volumes that are attached to n, or are to be.
func (c *Cluster) attachedTo(n *NodeInfo) map[attachment]bool {
	there := map[attachment]bool{}
	for _, a := range c.objects.Attachments(n.name) {
		if name := a.Spec.Source.PersistentVolumeName; name != nil {
			if pv, ok := c.objects.Volume(*name); ok && pv.Spec.CSI != nil {
				there[attachment{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}] = true
			}
		}
	}
	return there
}

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
	for _, name := range mounted(p.Pod) {
		pv, v := c.zonedVolume(p, name)
		if !v.Fits() {
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

// mounted are the claims that a pod names.
func mounted(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
			names = append(names, v.ClaimName)
		}
	}
	return names
}

// zonedVolume is the volume of a claim that p mounts; nil if it is to be chosen yet.
func (c *Cluster) zonedVolume(p *PodInfo, name string) (*corev1.PersistentVolume, Verdict) {
	claim, v := c.claim(p, name)
	if !v.Fits() {
		return nil, v
	}
	if claim.Spec.VolumeName != "" {
		pv, ok := c.objects.Volume(claim.Spec.VolumeName)
		if !ok {
			return nil, Never(fmt.Sprintf("persistentvolume %q not found", claim.Spec.VolumeName))
		}
		return pv, fits
	}
	class, ok := c.objects.Class(classOf(claim))
	switch {
	case classOf(claim) == "":
		return nil, Never("PersistentVolumeClaim had no pv name and storageClass name")
	case !ok:
		return nil, Never(fmt.Sprintf("storageclass.storage.k8s.io %q not found", classOf(claim)))
	case !late(class):
		return nil, Never("PersistentVolume had no name")
	}
	return nil, fits
}

func (volumeZone) Events() EventKind           { return VolumesChanged | NodeAdded | NodeChanged }
func (volumeZone) Helps(*PodInfo, *Event) bool { return true }
