package cache

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/devices"
)

// A Cluster holds the nodes and the pods on them, changed in place. One goroutine at a time uses
// it.
type Cluster struct {
	Objects         Objects
	devices         *devices.State
	nodes           map[string]*NodeInfo
	NodeInfos       []*NodeInfo // existing nodes
	pods            map[types.UID]*PodInfo
	podsByNamespace map[string]map[types.UID]*PodInfo // pods by namespace
	ClaimUses       map[types.NamespacedName]int      // how many pods on nodes use a claim
	podsByPriority  map[int32]int                     // how many pods on nodes have a priority
	// nominated are the placeholders of nominated pods, by the pod's UID.
	nominated             map[types.UID]*PodInfo
	slots                 int   // numbers of slots used so far
	free                  []int // slots returned
	Images                map[string]*Image
	PreferNoScheduleNodes int                  // how many nodes have PreferNoSchedule taints
	attempts              uint64               // counts scheduling attempts
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
		devices:         devices.NewState(),
		nodes:           map[string]*NodeInfo{},
		pods:            map[types.UID]*PodInfo{},
		podsByNamespace: map[string]map[types.UID]*PodInfo{},
		ClaimUses:       map[types.NamespacedName]int{},
		topologies:      map[string]*Topology{},
		podsByPriority:  map[int32]int{},
		nominated:       map[types.UID]*PodInfo{},
		Images:          map[string]*Image{},
		AssumedVolumes:  newAssumedVolumes(),
		tallies:         tallies{byKey: map[string]*Tally{}},
		existingTerms:   existingTerms{byKey: map[existingTermKey]*ExistingTerm{}},
	}
}

// DevicesOf returns the model of the devices of a cluster.
func DevicesOf(c *Cluster) *devices.State { return c.devices }

// Len returns the number of nodes.
func (c *Cluster) Len() int { return len(c.NodeInfos) }

// NumPods returns the number of pods on nodes, placeholders of nominated ones included.
func (c *Cluster) NumPods() int { return len(c.pods) }

// Node returns a node; nil if it does not exist.
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

// RemoveNode removes a node. Pods that are still on it stay known.
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

// Tick counts a scheduling attempt. Tallies that many attempts have not used are dropped.
func (c *Cluster) Tick() { c.attempts++ }

// node returns the entry of that name, making an empty one if needed.
func (c *Cluster) node(name string) *NodeInfo {
	n := c.nodes[name]
	if n != nil {
		return n
	}
	n = &NodeInfo{Name: name, Pods: map[types.UID]*PodInfo{}, devices: c.devices, index: -1}
	if k := len(c.free); k > 0 {
		n.slot, c.free = c.free[k-1], c.free[:k-1]
	} else {
		n.slot = c.slots
		c.slots++
	}
	c.nodes[name] = n
	return n
}

// release drops the entry of a node that does not exist and has no pods.
func (c *Cluster) release(n *NodeInfo) {
	if n.Node == nil && len(n.Pods) == 0 {
		delete(c.nodes, n.Name)
		c.free = append(c.free, n.slot)
	}
}
