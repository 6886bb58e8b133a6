package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// success is the Status of a node that passes.
var success framework.Status

// Restrictions rejects nodes on which a pod's volumes cannot be shared: claims with
// ReadWriteOncePod, and disks that only one pod on a node can use.
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

// conflicts reports whether two pods' volumes are one disk that they cannot share.
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
