package devicetainteviction

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// name is that of kube-controller-manager's controller, which events and fields have.
const name = "device-taint-eviction-controller"

// Indexes of slices, and of allocated claims, by pool.
const (
	byPool      = "pool of devices"
	byAllocated = "pool of allocated devices"
)

// byGroup is the index of pods by their group.
const byGroup = "pod group of a device's users"

// Options configure the controller.
type Options struct {
	// NoRules leaves out DeviceTaintRules, which some emulated versions of Kubernetes do not have.
	NoRules bool
	// GroupClaims: claims may be reserved for pod groups (feature gate DRAWorkloadResourceClaims).
	GroupClaims bool
	// Memory outlives the controller. Nil means a new one.
	Memory *Memory
}

type evictor struct {
	pods     controller.Objects[*corev1.Pod]
	claims   controller.Objects[*resourcev1.ResourceClaim]
	slices   controller.Objects[*resourcev1.ResourceSlice]
	rules    controller.Objects[*resourcev1.DeviceTaintRule] // without an informer if Options.NoRules
	options  Options
	memory   *Memory
	rec      *client.Recorder
	podLoop  *controller.Controller
	ruleLoop *controller.Controller
}

// New returns the controller, with two queues: of pods that may have to be evicted, and of rules whose status may have to
// be written.
func New(env controller.Env, o Options) controller.Runner {
	e := &evictor{
		pods:    controller.ObjectsOf[*corev1.Pod](env),
		claims:  controller.ObjectsOf[*resourcev1.ResourceClaim](env),
		slices:  controller.ObjectsOf[*resourcev1.ResourceSlice](env),
		options: o,
		memory:  o.Memory,
		rec:     env.Recorder.From(name, ""),
	}
	if e.memory == nil {
		e.memory = new(Memory)
	}
	e.claims.Index(byAllocated, func(c *resourcev1.ResourceClaim) (pools []string) {
		for _, r := range results(c) {
			if p := pool(r.Driver, r.Pool); !slices.Contains(pools, p) {
				pools = append(pools, p)
			}
		}
		return pools
	})
	e.slices.Index(byPool, func(s *resourcev1.ResourceSlice) []string { return []string{pool(s.Spec.Driver, s.Spec.Pool.Name)} })
	if o.GroupClaims {
		e.pods.Index(byGroup, func(p *corev1.Pod) []string {
			if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
				return []string{controller.Key{Namespace: p.Namespace, Name: *g.PodGroupName}.String()}
			}
			return nil
		})
	}
	e.podLoop = controller.New("devicetainteviction", e.syncPod, controller.Options{Workers: 8})
	e.podLoop.Watch(
		controller.Watches(e.pods, ifUser).If(usesChange),
		controller.Watches(e.claims, e.users).If(func(old, c *resourcev1.ResourceClaim) bool {
			return old.UID != c.UID || (old.Status.Allocation == nil) != (c.Status.Allocation == nil) ||
				!equality.Semantic.DeepEqual(old.Status.ReservedFor, c.Status.ReservedFor)
		}),
		controller.Watches(e.slices, e.usersOfPool),
	)
	for _, k := range e.memory.planned() { // they may be gone
		e.podLoop.Enqueue(k)
	}
	if o.NoRules {
		return e.podLoop
	}
	e.rules = controller.ObjectsOf[*resourcev1.DeviceTaintRule](env)
	e.podLoop.Watch(controller.Reads(e.rules))
	e.ruleLoop = controller.New("devicetainteviction-rules", e.syncRule, controller.Options{})
	e.ruleLoop.Watch(
		controller.Watches(e.rules, controller.Self).If(func(old, r *resourcev1.DeviceTaintRule) bool {
			return old.UID != r.UID || old.Generation != r.Generation
		}),
		controller.Handles(e.rules, informer.Handler[*resourcev1.DeviceTaintRule]{Delete: e.memory.forget}),
		controller.Reads(e.pods), controller.Reads(e.claims), controller.Reads(e.slices),
	)
	return controller.Runners{e.podLoop, e.ruleLoop}
}

// ifUser returns the key of a pod that has claims, on a node.
func ifUser(p *corev1.Pod) []controller.Key {
	if p.Spec.NodeName == "" || len(p.Spec.ResourceClaims) == 0 && p.Status.ExtendedResourceClaimStatus == nil {
		return nil
	}
	return controller.Self(p)
}

// usesChange reports whether a pod may use other claims than before.
func usesChange(old, p *corev1.Pod) bool {
	return old.UID != p.UID || old.Spec.NodeName != p.Spec.NodeName ||
		!equality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, p.Status.ResourceClaimStatuses) ||
		!equality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, p.Status.ExtendedResourceClaimStatus)
}

// users returns the keys of the pods that a claim is reserved for, each by itself or as one of a group.
func (e *evictor) users(c *resourcev1.ResourceClaim) (keys []controller.Key) {
	for _, r := range c.Status.ReservedFor {
		k := controller.Key{Namespace: c.Namespace, Name: r.Name}
		switch {
		case r.APIGroup == "" && r.Resource == "pods":
			keys = append(keys, k)
		case r.APIGroup == schedulingv1beta1.GroupName && r.Resource == "podgroups" && e.options.GroupClaims:
			for _, p := range e.pods.Store().ByIndex(byGroup, k.String()) {
				keys = append(keys, controller.KeyOf(p))
			}
		}
	}
	return keys
}

// usersOfPool returns the keys of the pods that use devices of a slice's pool, if the pool has or had taints that evict.
func (e *evictor) usersOfPool(s *resourcev1.ResourceSlice) (keys []controller.Key) {
	key := pool(s.Spec.Driver, s.Spec.Pool.Name)
	tainted := evicts(s)
	for _, other := range e.slices.Store().ByIndex(byPool, key) {
		tainted = tainted || evicts(other)
	}
	if !tainted {
		return nil
	}
	for _, c := range e.claims.Store().ByIndex(byAllocated, key) {
		keys = append(keys, e.users(c)...)
	}
	return keys
}

// wake enqueues the pods that a rule concerns now, and all whose eviction is planned, perhaps because of its former spec. r
// is nil for a rule that is gone.
func (e *evictor) wake(ctx context.Context, r *resourcev1.DeviceTaintRule) {
	for _, k := range e.memory.planned() {
		e.podLoop.EnqueueFrom(ctx, k)
	}
	if r == nil || r.Spec.Taint.Effect != resourcev1.DeviceTaintEffectNoExecute {
		return
	}
	for _, c := range e.selected(r) {
		for _, k := range e.users(c) {
			e.podLoop.EnqueueFrom(ctx, k)
		}
	}
}
