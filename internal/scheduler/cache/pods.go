package cache

import (
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// AddPod puts a pod on the node it names (or is assumed on), replacing its previous version. The
// node need not exist yet.
func (c *Cluster) AddPod(p *PodInfo, nodeName string) {
	c.RemovePod(p.Pod.UID)
	p.NodeInfo = c.node(nodeName)
	p.NodeInfo.count(p, 1)
	c.pods[p.Pod.UID] = p
	c.podsByPriority[p.Priority]++
	if c.podsByNamespace[p.Pod.Namespace] == nil {
		c.podsByNamespace[p.Pod.Namespace] = map[types.UID]*PodInfo{}
	}
	c.podsByNamespace[p.Pod.Namespace][p.Pod.UID] = p
	for _, name := range p.Claims {
		c.ClaimUses[types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}]++
	}
	c.updateTallies(p, 1)
	c.updateExistingTerms(p, 1)
}

// RemovePod removes a pod from its node; it returns nil if the pod is on no node.
func (c *Cluster) RemovePod(uid types.UID) (p *PodInfo, n *NodeInfo) {
	if p = c.pods[uid]; p == nil {
		return nil, nil
	}
	n = p.NodeInfo
	c.updateExistingTerms(p, -1)
	c.updateTallies(p, -1)
	n.count(p, -1)
	delete(c.pods, uid)
	if c.podsByPriority[p.Priority]--; c.podsByPriority[p.Priority] == 0 {
		delete(c.podsByPriority, p.Priority)
	}
	if delete(c.podsByNamespace[p.Pod.Namespace], uid); len(c.podsByNamespace[p.Pod.Namespace]) == 0 {
		delete(c.podsByNamespace, p.Pod.Namespace)
	}
	for _, name := range p.Claims {
		key := types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}
		if c.ClaimUses[key]--; c.ClaimUses[key] == 0 {
			delete(c.ClaimUses, key)
		}
	}
	c.release(n)
	return p, n
}

// Assigned returns a pod that is on a node, or nil.
func (c *Cluster) Assigned(uid types.UID) *PodInfo { return c.pods[uid] }

// Renew replaces the object of a pod on a node by a version with the same rules, so that the one before is not kept in
// memory. An unknown pod is ignored.
func (c *Cluster) Renew(pod *corev1.Pod) {
	if p := c.pods[pod.UID]; p != nil {
		p.Pod = pod
	}
}

// PodOn returns a pod on a node, or assumed there; nil for one that is not.
func PodOn(c *Cluster, uid types.UID) *PodInfo { return c.pods[uid] }

// PodsOn yields the pods on nodes.
func PodsOn(c *Cluster) iter.Seq[*PodInfo] { return maps.Values(c.pods) }

// HasPodsBelow reports whether there may be pods of a lower priority on nodes.
func (c *Cluster) HasPodsBelow(priority int32) bool {
	for rank := range c.podsByPriority {
		if rank < priority {
			return true
		}
	}
	return false
}

// candidates yields the pods among which those that m selects must be.
func (c *Cluster) candidates(m *PodSelector) iter.Seq[*PodInfo] {
	t := &m.terms[0]
	if t.nsSelector != nil {
		return maps.Values(c.pods)
	}
	return func(yield func(*PodInfo) bool) {
		for _, ns := range t.namespaces {
			for _, p := range c.podsByNamespace[ns] {
				if !yield(p) {
					return
				}
			}
		}
	}
}
