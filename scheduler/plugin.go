package scheduler

import "context"

// A Filter is one reason why a pod may not run on a node. Its type must be comparable.
type Filter interface {
	// Name is the filter's name, as kube-scheduler calls it.
	Name() string
	// Prepare looks at the pod once, before any node. It returns the check to make on
	// each node, or nil if this filter has nothing to say about the pod. A Verdict that
	// does not fit means that no node will do.
	Prepare(c *Cluster, p *PodInfo) (Check, Verdict)
	// Events are the kinds of events that can make a pod fit that this filter rejected.
	Events() EventKind
	// Helps says whether an event, of one of those kinds, may make the pod fit. It errs
	// towards true: a needless attempt is cheap, a forgotten pod is not.
	Helps(p *PodInfo, e *Event) bool
}

// A Narrower is a Filter that knows, for some pods, the only nodes that can do. Of the
// others no filter is asked, which makes a pod for one node cheap in a large cluster.
type Narrower interface {
	Filter
	// Narrow returns the names of these nodes, sorted, each once; false if it knows none.
	Narrow(p *PodInfo) (names []string, narrowed bool)
}

// A Reserver is a Filter that sets something aside for a pod beside what the Cluster
// counts, from when the pod is given its node.
type Reserver interface {
	Filter
	// Reserve is called with the node that p gets. A Verdict that does not fit puts p back.
	Reserve(c *Cluster, p *PodInfo, n *NodeInfo) (Reservation, Verdict)
}

// Reservation is what a Reserver has to do later; either may be nil.
type Reservation struct {
	// BeforeBinding runs on a goroutine of its own, and may wait; the pod is bound when all
	// have returned without an error. It must not touch the Cluster.
	BeforeBinding func(ctx context.Context) error
	// Release is called once the pod is bound, or will not be; after BeforeBinding.
	Release func()
}

// Check says whether the prepared pod fits the node as far as the filter goes.
type Check func(n *NodeInfo) Verdict

// Verdict is the zero value for "fits"; otherwise the reasons why not.
type Verdict struct {
	Reasons []string // worded as kube-scheduler does
	// Final: the pod would not fit even if the node were empty, so preempting others
	// there is no use.
	Final bool
}

// Fits says whether nothing speaks against the node.
func (v Verdict) Fits() bool { return len(v.Reasons) == 0 }

// No is the Verdict that the node will not do as it is.
func No(reason string) Verdict { return Verdict{Reasons: []string{reason}} }

// Never is the Verdict that the node would not do even if it were empty.
func Never(reason string) Verdict { return Verdict{Reasons: []string{reason}, Final: true} }

// A Score says which of the nodes that fit is better.
type Score interface {
	Name() string
	// Prepare looks at the pod and the nodes that fit once. It returns nil if all
	// nodes are the same to it.
	Prepare(c *Cluster, p *PodInfo, fit []*NodeInfo) Rate
}

// Rate gives a node points; more is better.
type Rate interface {
	Of(n *NodeInfo) int64
	// Normalize maps the points of all nodes to 0..100, in place.
	Normalize(points []int64)
}

// Points is a Rate whose points are in 0..100 as they are.
type Points func(n *NodeInfo) int64

// Of is the function itself.
func (r Points) Of(n *NodeInfo) int64 { return r(n) }

// Normalize leaves the points as they are.
func (r Points) Normalize([]int64) {}

// More is a Rate scaled so that the highest has 100 points.
type More func(n *NodeInfo) int64

// Of is the function itself.
func (r More) Of(n *NodeInfo) int64 { return r(n) }

// Normalize scales so that the highest has 100.
func (r More) Normalize(points []int64) {
	if top := highest(points); top > 0 {
		for i := range points {
			points[i] = 100 * points[i] / top
		}
	}
}

// Fewer is a Rate scaled so that the highest has 0 points and none has 100.
type Fewer func(n *NodeInfo) int64

// Of is the function itself.
func (r Fewer) Of(n *NodeInfo) int64 { return r(n) }

// Normalize scales so that the highest has 0, and none has 100.
func (r Fewer) Normalize(points []int64) {
	top := highest(points)
	for i := range points {
		if top == 0 {
			points[i] = 100
		} else {
			points[i] = 100 - 100*points[i]/top
		}
	}
}

func highest(points []int64) int64 {
	var top int64
	for _, v := range points {
		top = max(top, v)
	}
	return top
}

// WeightedScore is a Score and how much it counts.
type WeightedScore struct {
	Score
	Weight int64
}

// Event is a change in the cluster that may let a waiting pod fit.
type Event struct {
	Kind EventKind
	Node *NodeInfo // of node events, and the node of the pod in pod events
	Pod  *PodInfo  // of pod events: a pod that is or was on Node
}

// EventKind is a set of kinds of events.
type EventKind uint

// The kinds.
const (
	NodeAdded EventKind = 1 << iota
	NodeChanged
	PodAdded   // to a node, or its labels changed
	PodRemoved // from a node: deleted or ended
	VolumesChanged
	NamespaceChanged
	NodeRemoved
)

func (k EventKind) any(of EventKind) bool { return k&of != 0 }
