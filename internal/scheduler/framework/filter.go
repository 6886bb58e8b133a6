package framework

import (
	"context"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"fairlead.dev/internal/scheduler/cache"
)

// A Filter rejects nodes for one reason. Its type must be comparable.
type Filter interface {
	// Name returns the plugin's name, as in kube-scheduler.
	Name() string
	// PreFilter examines the pod once, before any node. It returns the check of each node, or nil
	// if every node passes. A Status without success means that no node fits.
	PreFilter(c *cache.Cluster, p *cache.PodInfo) (FilterFunc, Status)
	// EventsToRegister returns the kinds of events that can make a pod fit that this filter
	// rejected.
	EventsToRegister() EventKind
	// QueueingHint reports whether an event of one of those kinds may make the pod fit. If in doubt
	// it returns true: a needless attempt is cheap, a missed one leaves the pod Pending.
	QueueingHint(p *cache.PodInfo, e *ClusterEvent) bool
}

// A NodeNameFilter is a Filter that for some pods names the only nodes that can fit. Other nodes
// are not checked, which makes a pod for one node cheap in a large cluster.
type NodeNameFilter interface {
	Filter
	// NodeNames returns the names of these nodes, sorted, without duplicates; false if any node may
	// fit.
	NodeNames(p *cache.PodInfo) (names []string, narrowed bool)
}

// A Reserver is a Filter that reserves something for a pod that the Cluster does not count, from
// the moment at which the pod gets its node.
type Reserver interface {
	Filter
	// Reserve is called with the node that p gets. A Status without success puts p back into the
	// queue.
	Reserve(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (Reservation, Status)
}

// A Reservation is the work that a Reserver has left to do for a pod; each function may be nil.
type Reservation struct {
	// PreBind runs on a goroutine of its own. The pod is bound when all PreBind functions have returned
	// without an error. It must not use the Cluster.
	PreBind func(ctx context.Context) error
	// Unreserve runs on another goroutine if the pod is not bound after all, and takes back the
	// writes of PreBind. It must not use the Cluster.
	Unreserve func(ctx context.Context)
	// Release is called last, once the pod is bound or will not be.
	Release func()
}

// A PreEnqueuer is a Filter that knows of some pods that they cannot be placed yet. They are not
// tried, and have no condition that says so, until an event of theirs.
type PreEnqueuer interface {
	Filter
	// PreEnqueue reports whether to try the pod.
	PreEnqueue(c *cache.Cluster, p *cache.PodInfo) bool
}

// A GroupPostFilter is a Filter that may help a pod group that fits nowhere and has no pod on a node.
type GroupPostFilter interface {
	Filter
	// PostFilterGroup returns a write that may make the group fit, and its description in the group's condition; nil if
	// there is none. It is called by the scheduler's loop, which makes the write in another goroutine.
	PostFilterGroup(c *cache.Cluster, g *schedulingv1beta1.PodGroup) (write func(context.Context) error, done string)
}

// A PostFilter is a Filter that may help a pod that it has rejected on all nodes, before others are
// preempted for it.
type PostFilter interface {
	Filter
	// PostFilter returns a write that may make the pod fit, and its description in the pod's
	// condition, or nil. The write runs on another goroutine; if it fails, the pod is
	// tried again.
	PostFilter(c *cache.Cluster, p *cache.PodInfo) (write func(context.Context) error, done string)
}

// A FilterFunc checks a node for the pod that was given to PreFilter.
type FilterFunc func(n *cache.NodeInfo) Status

// A Status is the result of a filter: success, which is the zero value, or the reasons of the
// rejection.
type Status struct {
	Reasons []string // in kube-scheduler's words
	// Unresolvable: the pod would not fit even if the node were empty, so preemption is not
	// helpful.
	Unresolvable bool
	// Failed: the reason is an error, which ends the attempt to place the pod.
	Failed bool
}

// IsSuccess reports whether the node passes.
func (v Status) IsSuccess() bool { return len(v.Reasons) == 0 }

// Unschedulable is the Status of a node that does not fit while the pods on it stay.
func Unschedulable(reason string) Status { return Status{Reasons: []string{reason}} }

// Unresolvable is the Status of a node that would not fit even if it were empty.
func Unresolvable(reason string) Status { return Status{Reasons: []string{reason}, Unresolvable: true} }

// Failed is the Status of a check that met an error.
func Failed(err error) Status { return Status{Reasons: []string{err.Error()}, Failed: true} }
