package cache

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod that made others leave a node is nominated to it: until it gets there, a ghost
// holds its resources and ports, so that no pod of lower priority takes the room. Nothing
// else of the pod is there: it has no labels, and no rules.

// Nominate puts p's ghost on a node, in place of one elsewhere.
func (c *Cluster) Nominate(p *PodInfo, node string) {
	c.Withdraw(p.Pod.UID)
	g := &PodInfo{
		Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Pod.Namespace, Name: p.Pod.Name, UID: "ghost of " + p.Pod.UID,
		}},
		Requests: p.Requests, NonZeroRequests: p.NonZeroRequests, Priority: p.Priority, HostPorts: p.HostPorts, Nominated: true,
	}
	c.nominated[p.Pod.UID] = g
	c.AddPod(g, node)
}

// NominatedNode returns the node to which a pod is nominated; nil if it is to none.
func (c *Cluster) NominatedNode(uid types.UID) *NodeInfo {
	if p := c.nominated[uid]; p != nil {
		return p.NodeInfo
	}
	return nil
}

// Withdraw takes a pod's ghost away, if there is one.
func (c *Cluster) Withdraw(uid types.UID) {
	if g := c.nominated[uid]; g != nil {
		delete(c.nominated, uid)
		c.RemovePod(g.Pod.UID)
	}
}

// SetAsideNominated takes p's own ghost, and those of less important pods, out of p's way. It
// returns the node that p is nominated to, and what puts the ghosts back; p's own comes
// back only if it still is nominated.
func (c *Cluster) SetAsideNominated(p *PodInfo) (own *NodeInfo, back func()) {
	if len(c.nominated) == 0 {
		return nil, func() {}
	}
	type away struct {
		uid  types.UID
		info *PodInfo
		node string
	}
	var gone []away
	for uid, g := range c.nominated {
		if uid == p.Pod.UID {
			own = g.NodeInfo
		}
		if uid == p.Pod.UID || g.Priority < p.Priority {
			gone = append(gone, away{uid, g, g.NodeInfo.Name})
		}
	}
	for _, g := range gone {
		c.RemovePod(g.info.Pod.UID)
	}
	return own, func() {
		for _, g := range gone {
			if c.nominated[g.uid] == g.info {
				c.AddPod(g.info, g.node)
			}
		}
	}
}
