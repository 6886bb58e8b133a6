package dynamicresources

import (
	"cmp"
	"errors"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
	"fairlead.dev/internal/scheduler/framework"
)

// An attempt is the work for one pod that needs devices.
type attempt struct {
	plugin    Plugin
	devices   *devices.State
	pod       *corev1.Pod
	allocated []allocatedClaim
	pending   []*resourcev1.ResourceClaim // claims without allocation
	group     *schedulingv1beta1.PodGroup // of the pod, if groups may have claims; or nil
	ofGroup   []types.UID                 // those of the claims that are reserved for the group in place of the pod
	request   *devices.Request            // for pending, on nodes that need no more; nil: all are allocated

	extended []corev1.ResourceName     // extended resources that a class offers
	stale    *resourcev1.ResourceClaim // the claim for them that an earlier attempt made, or nil
	variants map[string]*variant       // by the names of the extended resources that a node has as devices
}

// An allocatedClaim is a claim that has its devices.
type allocatedClaim struct {
	claim *resourcev1.ResourceClaim
	// shared is an allocation that is not written yet, which an earlier pod of the group has taken; nil: it is written.
	shared *resourcev1.AllocationResult
	nodes  *cache.RequiredNodeAffinity // where they are available; nil: everywhere
	// unbound: the devices did not meet their conditions, or not in time.
	unbound bool
}

// addAllocated adds a claim that has an allocation, or shares one.
func (a *attempt) addAllocated(claim *resourcev1.ResourceClaim, shared *resourcev1.AllocationResult) framework.Status {
	of := allocatedClaim{claim: claim, shared: shared}
	if required := cmp.Or(shared, claim.Status.Allocation).NodeSelector; required != nil {
		var err error
		if of.nodes, err = cache.NewRequiredNodeAffinity(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: required,
		}}}); err != nil {
			return framework.Failed(err)
		}
	}
	if shared != nil {
		a.allocated = append(a.allocated, of)
		return success
	}
	ready, err := devices.IsReady(claim)
	of.unbound = err != nil || !ready && devices.IsLate(claim, a.plugin.BindingTimeout)
	a.allocated = append(a.allocated, of)
	return success
}

// isAvailable reports whether a pod on the node can use the claim.
func (of *allocatedClaim) isAvailable(node *corev1.Node) bool {
	return of.nodes.Matches(node) && !of.unbound
}

var (
	notAvailable = framework.Unresolvable("resourceclaim not available on the node")
	notAllocated = framework.Unresolvable("cannot allocate all claims")
	notExtended  = framework.Unresolvable("cannot schedule extended resource claim")
)

// check checks a node.
func (a *attempt) check(n *cache.NodeInfo) framework.Status {
	if a.stale != nil {
		return notExtended // PostFilter deletes it
	}
	if request := a.requestOn(n); request != nil {
		var onNode devices.OnNodeError
		switch fits, _, err := request.Fits(n.Node); {
		case errors.As(err, &onNode):
			return framework.Unresolvable(err.Error())
		case err != nil:
			return framework.Failed(err)
		case !fits:
			return notAllocated
		}
	}
	for i := range a.allocated {
		if !a.allocated[i].isAvailable(n.Node) {
			return notAvailable
		}
	}
	return success
}

// requestOn returns the request for devices on a node; nil if no claim has to be allocated there.
func (a *attempt) requestOn(n *cache.NodeInfo) *devices.Request {
	if v := a.variantOn(n); v != nil {
		return v.request
	}
	return a.request
}
