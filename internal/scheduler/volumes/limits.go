package volumes

import (
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Limits keeps a node's volumes within the numbers that its CSINode allows for each driver.
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
		count, more := map[string]int32{}, map[string]bool{} // of each driver, and the drivers to which p adds
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

// An attachment is a volume on a node.
type attachment struct{ driver, volume string }

// attachedVolumes returns the current and requested attachments of n.
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

// csiVolumes returns the CSI volumes that p brings to its node. A claim without a volume counts for
// its class's provisioner.
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
