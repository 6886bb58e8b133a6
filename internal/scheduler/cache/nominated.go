package cache

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod that preempted others is nominated to their node. Until it is assigned, a placeholder holds
// its resources and ports on the node, so that no pod of lower priority takes the room. The
// placeholder has no labels and no affinity terms.

// Nominate puts p's placeholder on a node, replacing one elsewhere.
func (c *Cluster) Nominate(p *PodInfo, node string) {
	c.Withdraw(p.Pod.UID)
	g := &PodInfo{
		Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Pod.Namespace, Name: p.Pod.Name, UID: "nominated " + p.Pod.UID,
		}},
		Requests: p.Requests, NonZeroRequests: p.NonZeroRequests, Priority: p.Priority, PodRules: &PodRules{HostPorts: p.HostPorts}, Nominee: p,
	}
	c.nominated[p.Pod.UID] = g
	c.AddPod(g, node)
}

// NominatedNode returns the node to which a pod is nominated; nil if it is not nominated.
func (c *Cluster) NominatedNode(uid types.UID) *NodeInfo {
	if p := c.nominated[uid]; p != nil {
		return p.NodeInfo
	}
	return nil
}

// Withdraw removes a pod's placeholder, if there is one.
func (c *Cluster) Withdraw(uid types.UID) {
	if g := c.nominated[uid]; g != nil {
		delete(c.nominated, uid)
		c.RemovePod(g.Pod.UID)
	}
}

// SetAsideNominated removes the placeholders that do not count for p: its own and those of lower
// priority. It returns the node that p is nominated to, and the function that puts the placeholders
// back; p's own comes back only if p still is nominated.
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
