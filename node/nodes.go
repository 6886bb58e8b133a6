package node

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/node/images"
	api "fairlead.dev/internal/node/kubelet"
	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/internal/node/objectcache"
	"fairlead.dev/internal/node/stage"
	"fairlead.dev/trace"
	"fairlead.dev/workqueue"
)

// Nodes are the simulated nodes of one process. Make them with New, start them with Run.
type Nodes struct {
	env        controller.Env
	options    Options
	nodes      client.Resource[*corev1.Node]
	leases     client.Resource[*coordinationv1.Lease]
	pods       client.Resource[*corev1.Pod]
	work       *workqueue.Queue[podKey]
	heartbeats *workqueue.Queue[*kubelet]
	// heartbeatWorkers are the goroutines that work on heartbeats.
	heartbeatWorkers atomic.Int32
	stageQueue       *workqueue.Queue[*kubelet] // nodes on which stages are played
	supervision      *workqueue.Queue[*kubelet] // nodes whose usage is played, or that shut down
	joining          chan struct{}              // tokens that bound how many nodes register or list at a time
	// listOnly: the server does not support watches with initial events.
	listOnly  atomic.Bool
	lifecycle lifecycle.Lifecycle
	builtIn   *lifecycle.BuiltIn // the one below lifecycle
	served    *api.Server
	// watching counts the watches of objects that pods use. Workers of the queue work start them.
	watching sync.WaitGroup
	roster   roster
	running  sync.WaitGroup // the goroutines of nodes
	// absent is how many nodes have not joined yet, the first list of Nodes included; joined is closed when it is first 0.
	absent    atomic.Int64
	firstList sync.Once
	once      sync.Once
	joined    chan struct{}
}

// joinWorkers is how many nodes register or list at a time.
const joinWorkers = 16

// New returns nodes that live on env's server. They do nothing until Run.
func New(env controller.Env, o Options) *Nodes {
	ns := &Nodes{
		env:         env,
		options:     o.complete(),
		nodes:       client.For[*corev1.Node](env.Client),
		leases:      client.For[*coordinationv1.Lease](env.Client).Namespace(corev1.NamespaceNodeLease),
		pods:        client.For[*corev1.Pod](env.Client).Interned(nil).WithoutManagedFields(),
		work:        workqueue.New(workqueue.Options[podKey]{Name: "node-pods", MaxDelay: 30 * time.Second}),
		heartbeats:  workqueue.New(workqueue.Options[*kubelet]{Name: "node-heartbeats", MaxDelay: 5 * time.Second}),
		stageQueue:  workqueue.New(workqueue.Options[*kubelet]{Name: "node-stages", MaxDelay: 30 * time.Second}),
		supervision: workqueue.New(workqueue.Options[*kubelet]{Name: "node-supervision", MaxDelay: 30 * time.Second}),
		joining:     make(chan struct{}, joinWorkers),
	}
	ns.absent.Store(int64(o.Count) + 1)
	ns.joined = make(chan struct{})
	env.Client.Trace().RegisterQueue("nodes", ns.state)
	ns.builtIn = &lifecycle.BuiltIn{
		StartAfter: ns.options.StartAfter, RunFor: ns.options.RunFor,
		NoEvents: ns.options.Events == NoEvents, AllEvents: ns.options.Events == AllEvents,
		Images: ns.options.Definitions.Images, Exceeds: ns.options.Definitions.Exceeds,
	}
	ns.lifecycle = &lifecycle.Staged{
		Stages: func() stage.Stages { return ns.options.Definitions.Stages("Pod") }, Other: ns.builtIn,
	}
	ns.served = api.New(api.Options{Pods: ns, Definitions: ns.options.Definitions, Lease: ns.options.LeaseDuration})
	return ns
}

// podKey identifies a pod of a node.
type podKey struct {
	node *kubelet
	uid  types.UID
}

// kubelet is one simulated node.
type kubelet struct {
	*Nodes
	name      string
	index     int // from 0; the first of its slots of the pod addresses
	slots     int
	host      addresses.Both
	template  *corev1.Node        // Options.Template with the status that the Node had before it was simulated; may be nil
	capacity  corev1.ResourceList // of the node
	existed   bool                // the Node was created by others, and is not created again
	stop      context.CancelFunc
	stopped   chan struct{} // closed when the node's goroutine has ended
	joins     sync.Once
	recorder  *client.Recorder
	watched   *trace.Informer    // the node's pods, for the trace
	objects   *objectcache.Cache // that pods use; its lock follows mu
	heartbeat heartbeat          // owned by the worker that holds the node in the queue heartbeats
	choice    stage.Choice       // for the Node; owned by the worker that holds the node in stageQueue

	mu struct {
		sync.Mutex
		pods               map[types.UID]*pod
		ips                *addresses.Pool
		images             images.Pulled
		registered         bool                       // the node has joined; from then on it may be in the queue heartbeats
		uid                types.UID                  // of the Node as last seen
		deleted            bool                       // the Node was deleted; the node ends with its last pod
		revision           string                     // resourceVersion of the Node as last seen
		node               *corev1.Node               // the Node as last seen; kept only for stages
		outage             bool                       // the Node has the annotation for an outage
		devices            bool                       // the Node has new capacity that is not allocatable yet
		cordoned           bool                       // spec.unschedulable when the node was last not in an outage
		taints             []corev1.Taint             // of the Node, with the effect NoExecute
		awaitingPreemption []types.UID                // critical pods that wait for preempted ones to end
		settings           settings                   // of the kubelet
		supervised         bool                       // the node is in the queue supervision, or will be
		under              []corev1.NodeConditionType // pressures, sorted; replaced when they change
		news               bool                       // conditions or settings have changed since the last report
		boots              int                        // how often the machine has been started again
		pressure           supervised
		shutdown           shutdown
	}
}

// kubelet returns the i-th of the Options.Count nodes.
func (ns *Nodes) kubelet(i int) (*kubelet, error) {
	ip, err := ns.options.address(i)
	if err != nil {
		return nil, err
	}
	cidr, err := addresses.PodRange(ns.options.PodCIDR, i, ns.options.Capacity.Pods().Value(), 1)
	if err != nil {
		return nil, err
	}
	ns.roster.reserve(i, i, 1)
	return ns.newKubelet(fmt.Sprintf("%s%d", ns.options.NamePrefix, i+1), i, 1, ip, cidr, ns.options.Template, ns.options.Capacity), nil
}

func (ns *Nodes) newKubelet(name string, index, slots int, ip netip.Addr, cidr netip.Prefix, template *corev1.Node, capacity corev1.ResourceList) *kubelet {
	k := &kubelet{
		Nodes: ns, name: name, index: index, slots: slots, host: ns.options.families().Pair(ip, addresses.Embed(nodesSix, ip)), template: template, capacity: capacity,
		recorder: ns.env.Recorder.From("kubelet", name),
		watched:  &trace.Informer{Agent: ns.pods.UserAgent(), Resource: "pods", Fields: "spec.nodeName=" + name},
		stopped:  make(chan struct{}),
	}
	k.objects = objectcache.New(objectcache.Options{
		Client: ns.env.Client, Log: ns.env.Log, Node: name, Capacity: capacity, Lists: ns.joining, Watches: &ns.watching,
		Changed:     func(uid types.UID) { ns.work.Add(podKey{k, uid}) },
		GroupClaims: ns.options.GroupClaims,
	})
	k.mu.pods = map[types.UID]*pod{}
	if template != nil {
		if _, err := k.mu.settings.read(template.Annotations); err != nil {
			ns.env.Log.Warn("an annotation of a node template has no effect", "node", name, "err", err)
		}
	}
	k.mu.images.Behaviors = ns.options.Definitions.Images
	k.mu.ips = addresses.New(cidr, ns.options.six(cidr))
	return k
}

// address returns the address of the i-th node.
func (o Options) address(i int) (netip.Addr, error) {
	return addresses.Offset(o.NodeCIDR, uint64(2<<16+i+2)) // 172.18.0.2 is the first by default
}

// pod returns the pod of a UID; nil if the node does not have it.
func (k *kubelet) pod(uid types.UID) *pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.pods[uid]
}

// heartbeat is the state of a node's lease and status reports.
type heartbeat struct {
	uid      types.UID // of the Node
	lease    *coordinationv1.Lease
	renewed  time.Time // when the lease was last renewed
	reported time.Time // when the conditions were last reported
	retired  bool      // the Node was deleted
	left     bool      // the lease was shortened for an outage
}

// inOutage reports whether there is an outage.
func (k *kubelet) inOutage() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.outage
}
