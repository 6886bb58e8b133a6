package scheduler

import (
	"context"
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Objects is what rules need to know besides nodes and pods. Answers are from memory.
type Objects interface {
	NamespaceLabels(name string) map[string]string
	// Services of a namespace whose selector may fit pods with these labels.
	Services(namespace string, podLabels map[string]string) []*corev1.Service
	// OwnerSelector is the selector of a ReplicaSet, ReplicationController or
	// StatefulSet; nil if it is none of these or not known.
	OwnerSelector(namespace string, owner *metav1.OwnerReference) *metav1.LabelSelector
	Budgets(namespace string) []*policyv1.PodDisruptionBudget
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, bool)
	Volume(name string) (*corev1.PersistentVolume, bool)
	// Volumes of a class, of which some may be taken.
	Volumes(class string) []*corev1.PersistentVolume
	Class(name string) (*storagev1.StorageClass, bool)
	CSINode(name string) (*storagev1.CSINode, bool)
	CSIDriver(name string) (*storagev1.CSIDriver, bool)
	// Attachments are what is attached to a node, or is to be.
	Attachments(node string) []*storagev1.VolumeAttachment
	// Capacities are what is left for volumes of a class, of its driver's places.
	Capacities(class string) []*storagev1.CSIStorageCapacity
	// BindVolumes writes a choice of volumes for a pod on a node and waits until they are
	// bound. It is called from other goroutines.
	BindVolumes(ctx context.Context, node *corev1.Node, choices []volumeChoice) error
}

// Cluster is the picture of nodes and of the pods on them, changed in place. One
// goroutine at a time uses it.
type Cluster struct {
	objects Objects
	nodes   map[string]*NodeInfo
	order   []*NodeInfo // nodes that exist
	pods    map[types.UID]*PodInfo
	spaces  map[string]map[types.UID]*PodInfo // pods by namespace
	claims  map[types.NamespacedName]int      // pods on nodes that use a claim
	ranks   map[int32]int                     // pods by priority
	// nominated are the ghosts of pods that wait for others to leave, by the pod's UID.
	nominated map[types.UID]*PodInfo
	slots     int   // handed out so far
	free      []int // of them, those given back
	images    map[string]*image
	mild      int              // nodes with PreferNoSchedule taints
	clock     uint64           // counts the pods placed
	topology  uint64           // counts the changes of nodes and their labels
	axes      map[string]*axis // by topology key
	volumes   setAside
	tallies   tallies
	carriers  carriers
}

// NewCluster returns an empty cluster.
func NewCluster(o Objects) *Cluster {
	return &Cluster{
		objects:   o,
		nodes:     map[string]*NodeInfo{},
		pods:      map[types.UID]*PodInfo{},
		spaces:    map[string]map[types.UID]*PodInfo{},
		claims:    map[types.NamespacedName]int{},
		axes:      map[string]*axis{},
		ranks:     map[int32]int{},
		nominated: map[types.UID]*PodInfo{},
		images:    map[string]*image{},
		volumes:   setAside{map[string]types.NamespacedName{}, map[types.NamespacedName]string{}},
		tallies:   tallies{byKey: map[string]*tally{}},
		carriers:  carriers{byKey: map[carrierKey]*carrier{}},
	}
}

// Len returns the number of nodes.
func (c *Cluster) Len() int { return len(c.order) }

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
	if n.Node != nil && len(n.mild) > 0 {
		c.mild--
	}
	if n.Node == nil || !maps.Equal(n.Node.Labels, node.Labels) {
		c.topology++
	}
	n.setNode(node)
	c.setImages(n, node.Status.Images)
	if len(n.mild) > 0 {
		c.mild++
	}
	if n.place < 0 {
		n.place = len(c.order)
		c.order = append(c.order, n)
	}
	return n
}

// RemoveNode takes a node out. Pods that are still on it stay known.
func (c *Cluster) RemoveNode(name string) {
	n := c.nodes[name]
	if n == nil || n.Node == nil {
		return
	}
	c.topology++
	last := len(c.order) - 1
	c.order[n.place] = c.order[last]
	c.order[n.place].place = n.place
	c.order = c.order[:last]
	n.place, n.Node = -1, nil
	if len(n.mild) > 0 {
		c.mild--
	}
	c.setImages(n, nil)
	c.release(n)
}

// AddPod puts a pod on the node it names (or was assumed on), replacing what was known
// of it. The node need not exist yet.
func (c *Cluster) AddPod(p *PodInfo, nodeName string) {
	c.RemovePod(p.Pod.UID)
	p.node = c.node(nodeName)
	p.node.count(p, 1)
	c.pods[p.Pod.UID] = p
	c.ranks[p.Priority]++
	if c.spaces[p.Pod.Namespace] == nil {
		c.spaces[p.Pod.Namespace] = map[types.UID]*PodInfo{}
	}
	c.spaces[p.Pod.Namespace][p.Pod.UID] = p
	for _, name := range p.claims {
		c.claims[types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}]++
	}
	c.tell(p, 1)
	c.carry(p, 1)
}

// RemovePod takes a pod off its node; nil if it was on none.
func (c *Cluster) RemovePod(uid types.UID) (p *PodInfo, n *NodeInfo) {
	if p = c.pods[uid]; p == nil {
		return nil, nil
	}
	n = p.node
	c.carry(p, -1)
	c.tell(p, -1)
	n.count(p, -1)
	delete(c.pods, uid)
	if c.ranks[p.Priority]--; c.ranks[p.Priority] == 0 {
		delete(c.ranks, p.Priority)
	}
	if delete(c.spaces[p.Pod.Namespace], uid); len(c.spaces[p.Pod.Namespace]) == 0 {
		delete(c.spaces, p.Pod.Namespace)
	}
	for _, name := range p.claims {
		key := types.NamespacedName{Namespace: p.Pod.Namespace, Name: name}
		if c.claims[key]--; c.claims[key] == 0 {
			delete(c.claims, key)
		}
	}
	c.release(n)
	return p, n
}

// anyBelow says whether there may be pods of a lower priority on nodes.
func (c *Cluster) anyBelow(priority int32) bool {
	for rank := range c.ranks {
		if rank < priority {
			return true
		}
	}
	return false
}

// candidates are the pods among which m's can be.
func (c *Cluster) candidates(m *matcher) iter.Seq[*PodInfo] {
	t := &m.terms[0]
	if t.nsSelector != nil {
		return maps.Values(c.pods)
	}
	return func(yield func(*PodInfo) bool) {
		for _, ns := range t.namespaces {
			for _, p := range c.spaces[ns] {
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
	n = &NodeInfo{name: name, pods: map[types.UID]*PodInfo{}, place: -1}
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
	if n.Node == nil && len(n.pods) == 0 {
		delete(c.nodes, n.name)
		c.free = append(c.free, n.slot)
	}
}
