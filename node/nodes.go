package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	api "fairlead.dev/internal/node/kubelet"
	"fairlead.dev/internal/node/needs"
	"fairlead.dev/trace"
	"fairlead.dev/workqueue"
)

// Nodes are the simulated nodes of one process. Make them with New, start them with Run.
type Nodes struct {
	env     controller.Env
	options Options
	nodes   client.Resource[*corev1.Node]
	leases  client.Resource[*coordinationv1.Lease]
	pods    client.Resource[*corev1.Pod]
	work    *workqueue.Queue[podKey]
	beats   *workqueue.Queue[*kubelet]
	turns   *workqueue.Queue[*kubelet] // nodes on which stages are played
	joining chan struct{}              // tokens of nodes that register or list, which are bounded
	served  *api.Server
	// watching are the watches of what pods use, which are begun by those who work for pods.
	watching sync.WaitGroup
	all      atomic.Pointer[[]*kubelet] // set by Run
}

// podKey names a pod of a node.
type podKey struct {
	node *kubelet
	uid  types.UID
}

// kubelet is one node.
type kubelet struct {
	*Nodes
	name     string
	index    int // from 0
	ip       netip.Addr
	recorder *client.Recorder
	watched  *trace.Informer // the node's pods, for the trace
	beat     beat            // of whoever holds the node in the queue beats
	turn     turn            // of whoever holds it in the queue turns

	mu struct {
		sync.Mutex
		pods     map[types.UID]*pod
		ips      *addresses
		images   images
		revision string              // of the Node as it was seen last
		node     *corev1.Node        // that; kept only for stages
		dark     bool                // there is an outage
		devices  bool                // the Node has got capacity that is to become allocatable
		cordoned bool                // the Node was unschedulable when the node was last not dark
		taints   []corev1.Taint      // of the Node, those that expel
		used     map[needs.Key]*used // nil as long as no pod uses anything
		cramped  []types.UID         // pods that wait until others have made room for them
	}
}

// pod is a pod of a node.
type pod struct {
	latest *corev1.Pod // what the server says, as far as the node has heard
	// decided is latest with the status that the node makes of it, from before that is
	// written until there is another latest: a node knows what it runs before anybody else.
	decided *corev1.Pod
	ip      netip.Addr // zero until it starts
	taken   bool       // the node has agreed to run it
	evicted time.Time  // when it was told to end for another; zero if it was not
	load    struct {
		of *corev1.Pod // the version; see loads
		is load
	}
	// turn, and whether the pod has been released, are of whoever holds it in the queue work.
	turn     turn
	released bool
	// changed is closed when there is news; nil as long as nobody waits.
	changed chan struct{}
	ends    time.Time // when its containers exit, if that is known to less than a second
	uses    uses
	// handed is when the latest news was queued for the node's work, 0 once that has begun.
	handed trace.Instant
}

// uses are what a pod uses and is counted as a user of.
type uses struct {
	known    bool // else nobody has looked
	fallible bool // see needs.Fallible
	keys     []needs.Key
	told     string                     // of its volumes, so far
	last     map[string][]corev1.EnvVar // of containers with commands, when the pod has ended
}

const (
	joinWorkers = 16
	beatWorkers = 4
)

// New returns nodes that live on env's server. They do nothing until Run.
func New(env controller.Env, o Options) *Nodes {
	ns := &Nodes{
		env:     env,
		options: o.complete(),
		nodes:   client.For[*corev1.Node](env.Client),
		leases:  client.For[*coordinationv1.Lease](env.Client).Namespace(corev1.NamespaceNodeLease),
		pods:    client.For[*corev1.Pod](env.Client).Interned(nil).WithoutManagedFields(),
		work:    workqueue.New(workqueue.Options[podKey]{Name: "node-pods", MaxDelay: 30 * time.Second}),
		beats:   workqueue.New(workqueue.Options[*kubelet]{Name: "node-beats", MaxDelay: 5 * time.Second}),
		turns:   workqueue.New(workqueue.Options[*kubelet]{Name: "node-stages", MaxDelay: 30 * time.Second}),
		joining: make(chan struct{}, joinWorkers),
	}
	ns.served = api.New(api.Options{Pods: ns, Definitions: ns.options.Definitions, Lease: ns.options.LeaseDuration})
	return ns
}

// Run keeps the nodes alive until ctx ends, which is no error, and all goroutines have.
// The nodes stay registered. It may be called once.
func (ns *Nodes) Run(ctx context.Context) error {
	if ns.options.Count == 0 {
		<-ctx.Done()
		return nil
	}
	kubelets := make([]*kubelet, ns.options.Count)
	for i := range kubelets {
		k, err := ns.kubelet(i)
		if err != nil {
			return err
		}
		kubelets[i] = k
	}
	ns.all.Store(&kubelets)
	ns.options.KubeletVersion = cmp.Or(ns.options.KubeletVersion, ns.serverVersion(ctx), "v1.37.2-fairlead")
	if err := ns.declare(ctx); err != nil {
		ns.env.Log.Warn("the server may send packets to simulated addresses", "err", err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := ns.followKinds(ctx, &all); err != nil {
		return err
	}
	for range ns.options.PodWorkers {
		all.Go(func() { work(ctx, ns.work, podKey.sync) })
	}
	for range beatWorkers {
		all.Go(func() { work(ctx, ns.beats, (*kubelet).keepAlive) })
	}
	if ns.stagesNodes() {
		for range beatWorkers {
			all.Go(func() { work(ctx, ns.turns, (*kubelet).playNode) })
		}
	}
	all.Go(func() { ns.followNodes(ctx) })
	for _, k := range kubelets {
		all.Go(func() { k.run(ctx) })
	}
	if l := ns.options.Listener; l != nil {
		all.Go(func() { _ = ns.served.Serve(l) })
		<-ctx.Done()
		ns.served.Close()
	}
	all.Wait()
	ns.watching.Wait()
	return nil
}

// work hands keys to sync until ctx ends.
func work[K comparable](ctx context.Context, q *workqueue.Queue[K], sync func(K, context.Context) (time.Time, error)) {
	for k := range q.Work(ctx) {
		next, err := sync(k, ctx)
		if err != nil {
			q.Retry(k)
		} else {
			q.Forget(k)
			if !next.IsZero() {
				q.AddAfter(k, time.Until(next))
			}
		}
	}
}

func (ns *Nodes) kubelet(i int) (*kubelet, error) {
	ip, err := ns.address(i)
	if err != nil {
		return nil, err
	}
	k := &kubelet{Nodes: ns, name: fmt.Sprintf("%s%d", ns.options.NamePrefix, i+1), index: i, ip: ip}
	cidr, err := podRange(ns.options.PodCIDR, i, ns.options.Capacity.Pods().Value())
	if err != nil {
		return nil, err
	}
	k.recorder = ns.env.Recorder.From("kubelet", k.name)
	k.watched = &trace.Informer{Agent: k.pods.UserAgent(), Resource: "pods", Fields: "spec.nodeName=" + k.name}
	k.mu.pods = map[types.UID]*pod{}
	k.mu.ips = newAddresses(cidr)
	return k, nil
}

// serverVersion asks the server for its version; "" if it does not say.
func (ns *Nodes) serverVersion(ctx context.Context) string {
	res, err := ns.env.Client.REST().Do(ctx, client.Request{Method: http.MethodGet, Path: "/version"})
	if err != nil {
		return ""
	}
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	if json.Unmarshal(res.Body, &v) != nil {
		return ""
	}
	return v.GitVersion
}
