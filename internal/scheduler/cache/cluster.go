package cache

import (
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster is the picture of nodes and of the pods on them, changed in place. One
// goroutine at a time uses it.
type Cluster struct {
	Objects         Objects
	nodes           map[string]*NodeInfo
	NodeInfos       []*NodeInfo // nodes that exist
	pods            map[types.UID]*PodInfo
	podsByNamespace map[string]map[types.UID]*PodInfo // pods by namespace
	ClaimUses       map[types.NamespacedName]int      // pods on nodes that use a claim
	podsByPriority  map[int32]int                     // pods by priority
	// nominated are the ghosts of pods that wait for others to leave, by the pod's UID.
	nominated             map[types.UID]*PodInfo
	slots                 int   // handed out so far
	free                  []int // of them, those given back
	Images                map[string]*Image
	PreferNoScheduleNodes int                  // nodes with PreferNoSchedule taints
	attempts              uint64               // counts the pods placed
	topologyVersion       uint64               // counts the changes of nodes and their labels
	topologies            map[string]*Topology // by topology key
	AssumedVolumes        AssumedVolumes
	tallies               tallies
	existingTerms         existingTerms
}

// NewCluster returns an empty cluster.
func NewCluster(o Objects) *Cluster {
	return &Cluster{
		Objects:         o,
		nodes:           map[string]*NodeInfo{},
		pods:            map[types.UID]*PodInfo{},
		podsByNamespace: map[string]map[types.UID]*PodInfo{},
		ClaimUses:       map[types.NamespacedName]int{},
		topologies:      map[string]*Topology{},
		podsByPriority:  map[int32]int{},
		nominated:       map[types.UID]*PodInfo{},
		Images:          map[string]*Image{},
		AssumedVolumes:  AssumedVolumes{map[string]types.NamespacedName{}, map[types.NamespacedName]string{}},
		tallies:         tallies{byKey: map[string]*Tally{}},
		existingTerms:   existingTerms{byKey: map[existingTermKey]*ExistingTerm{}},
	}
}

// Len returns the number of nodes.
func (c *Cluster) Len() int { return len(c.NodeInfos) }

// Node returns a node; nil if there is none of that name.
func (c *Cluster) Node(name string) *NodeInfo {
	if n := c.nodes[name]; n != nil && n.Node != nil {
		return n
	}
	return nil
}

// SetNode adds or replaces a node and returns it.
func (c *Cluster) SetNode(node *corev1.Node) *NodeInfo {
	n := c.node(node.Name)
	if n.Node != nil && len(n.PreferNoScheduleTaints) > 0 {
		c.PreferNoScheduleNodes--
	}
	if n.Node == nil || !maps.Equal(n.Node.Labels, node.Labels) {
		c.topologyVersion++
	}
	n.setNode(node)
	c.SetImages(n, node.Status.Images)
	if len(n.PreferNoScheduleTaints) > 0 {
		c.PreferNoScheduleNodes++
	}
	if n.index < 0 {
		n.index = len(c.NodeInfos)
		c.NodeInfos = append(c.NodeInfos, n)
	}
	return n
}

// RemoveNode takes a node out. Pods that are still on it stay known.
func (c *Cluster) RemoveNode(name string) {
	n := c.nodes[name]
	if n == nil || n.Node == nil {
		return
	}
	c.topologyVersion++
	last := len(c.NodeInfos) - 1
	c.NodeInfos[n.index] = c.NodeInfos[last]
	c.NodeInfos[n.index].index = n.index
	c.NodeInfos = c.NodeInfos[:last]
	n.index, n.Node = -1, nil
	if len(n.PreferNoScheduleTaints) > 0 {
		c.PreferNoScheduleNodes--
	}
	c.SetImages(n, nil)
	c.release(n)
}

// AddPod puts a pod on the node it names (or was assumed on), replacing what was known
// of it. The node need not exist yet.
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

// RemovePod takes a pod off its node; nil if it was on none.
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

// SetStartTime records when a pod on a node started; a pod that is not known is ignored.
func (c *Cluster) SetStartTime(uid types.UID, start *metav1.Time) {
	if p := c.pods[uid]; p != nil {
		p.StartTime = start
	}
}

// Tick counts an attempt to place a pod, the measure by which unused tallies are dropped.
func (c *Cluster) Tick() { c.attempts++ }

// HasPodsBelow says whether there may be pods of a lower priority on nodes.
func (c *Cluster) HasPodsBelow(priority int32) bool {
	for rank := range c.podsByPriority {
		if rank < priority {
			return true
		}
	}
	return false
}

// candidates are the pods among which m's can be.
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

// node returns the entry of that name, making an empty one if needed.
func (c *Cluster) node(name string) *NodeInfo {
	n := c.nodes[name]
	if n != nil {
		return n
	}
	n = &NodeInfo{Name: name, Pods: map[types.UID]*PodInfo{}, index: -1}
	if k := len(c.free); k > 0 {
		n.slot, c.free = c.free[k-1], c.free[:k-1]
	} else {
		n.slot = c.slots
		c.slots++
	}
	c.nodes[name] = n
	return n
}

// release forgets an entry that stands for nothing any more.
func (c *Cluster) release(n *NodeInfo) {
	if n.Node == nil && len(n.Pods) == 0 {
		delete(c.nodes, n.Name)
		c.free = append(c.free, n.slot)
	}
}
