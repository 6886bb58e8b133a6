package framework

import (
	"context"

	"fairlead.dev/internal/scheduler/cache"
)

// A Filter is one reason why a pod may not run on a node. Its type must be comparable.
type Filter interface {
	// Name is the filter's name, as kube-scheduler calls it.
	Name() string
	// PreFilter looks at the pod once, before any node. It returns the check to make on
	// each node, or nil if this filter has nothing to say about the pod. A Verdict that
	// does not fit means that no node will do.
	PreFilter(c *cache.Cluster, p *cache.PodInfo) (FilterFunc, Status)
	// EventsToRegister are the kinds of events that can make a pod fit that this filter rejected.
	EventsToRegister() EventKind
	// QueueingHint says whether an event, of one of those kinds, may make the pod fit. It errs
	// towards true: a needless attempt is cheap, a forgotten pod is not.
	QueueingHint(p *cache.PodInfo, e *ClusterEvent) bool
}

// A Narrower is a Filter that knows, for some pods, the only nodes that can do. Of the
// others no filter is asked, which makes a pod for one node cheap in a large cluster.
type NodeNameFilter interface {
	Filter
	// NodeNames returns the names of these nodes, sorted, each once; false if it knows none.
	NodeNames(p *cache.PodInfo) (names []string, narrowed bool)
}

// A Reserver is a Filter that sets something aside for a pod beside what the Cluster
// counts, from when the pod is given its node.
type Reserver interface {
	Filter
	// Reserve is called with the node that p gets. A Verdict that does not fit puts p back.
	Reserve(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (Reservation, Status)
}

// Reservation is what a Reserver has to do later; either may be nil.
type Reservation struct {
	// PreBind runs on a goroutine of its own, and may wait; the pod is bound when all
	// have returned without an error. It must not touch the Cluster.
	PreBind func(ctx context.Context) error
	// Release is called once the pod is bound, or will not be; after BeforeBinding.
	Release func()
}

// FilterFunc says whether the prepared pod fits the node as far as the filter goes.
type FilterFunc func(n *cache.NodeInfo) Status

// Status is the zero value for "fits"; otherwise the reasons why not.
type Status struct {
	Reasons []string // worded as kube-scheduler does
	// Final: the pod would not fit even if the node were empty, so preempting others
	// there is no use.
	Unresolvable bool
}

// IsSuccess says whether nothing speaks against the node.
func (v Status) IsSuccess() bool { return len(v.Reasons) == 0 }

// Unschedulable is the Verdict that the node will not do as it is.
func Unschedulable(reason string) Status { return Status{Reasons: []string{reason}} }

// Unresolvable is the Verdict that the node would not do even if it were empty.
func Unresolvable(reason string) Status { return Status{Reasons: []string{reason}, Unresolvable: true} }

// A Score says which of the nodes that fit is better.
type Score interface {
	Name() string
	// PreScore looks at the pod and the nodes that fit once. It returns nil if all
	// nodes are the same to it.
	PreScore(c *cache.Cluster, p *cache.PodInfo, fit []*cache.NodeInfo) NodeScorer
}

// NodeScorer gives a node points; more is better.
type NodeScorer interface {
	Score(n *cache.NodeInfo) int64
	// NormalizeScores maps the points of all nodes to 0..100, in place.
	NormalizeScores(points []int64)
}

// ScoreFunc is a Rate whose points are in 0..100 as they are.
type ScoreFunc func(n *cache.NodeInfo) int64

// Score is the function itself.
func (r ScoreFunc) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores leaves the points as they are.
func (r ScoreFunc) NormalizeScores([]int64) {}

// NormalizedScore is a Rate scaled so that the highest has 100 points.
type NormalizedScore func(n *cache.NodeInfo) int64

// Score is the function itself.
func (r NormalizedScore) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores scales so that the highest has 100.
func (r NormalizedScore) NormalizeScores(points []int64) {
	if top := highest(points); top > 0 {
		for i := range points {
			points[i] = 100 * points[i] / top
		}
	}
}

// ReversedScore is a Rate scaled so that the highest has 0 points and none has 100.
type ReversedScore func(n *cache.NodeInfo) int64

// Score is the function itself.
func (r ReversedScore) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores scales so that the highest has 0, and none has 100.
func (r ReversedScore) NormalizeScores(points []int64) {
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

// ClusterEvent is a change in the cluster that may let a waiting pod fit.
type ClusterEvent struct {
	Kind EventKind
	Node *cache.NodeInfo // of node events, and the node of the pod in pod events
	Pod  *cache.PodInfo  // of pod events: a pod that is or was on Node
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

func (k EventKind) Has(of EventKind) bool { return k&of != 0 }
