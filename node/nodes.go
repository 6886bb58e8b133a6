package node

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	api "fairlead.dev/internal/node/kubelet"
	"fairlead.dev/internal/node/lifecycle"
	"fairlead.dev/internal/node/stage"
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
	stageQueue *workqueue.Queue[*kubelet] // nodes on which stages are played
	joining    chan struct{}              // tokens that bound how many nodes register or list at a time
	lifecycle  lifecycle.Lifecycle
	served     *api.Server
	// watching counts the watches of objects that pods use. Workers of the queue work start them.
	watching sync.WaitGroup
	all      atomic.Pointer[[]*kubelet] // set by Run
}

const (
	joinWorkers      = 16
	heartbeatWorkers = 4
)

// New returns nodes that live on env's server. They do nothing until Run.
func New(env controller.Env, o Options) *Nodes {
	ns := &Nodes{
		env:        env,
		options:    o.complete(),
		nodes:      client.For[*corev1.Node](env.Client),
		leases:     client.For[*coordinationv1.Lease](env.Client).Namespace(corev1.NamespaceNodeLease),
		pods:       client.For[*corev1.Pod](env.Client).Interned(nil).WithoutManagedFields(),
		work:       workqueue.New(workqueue.Options[podKey]{Name: "node-pods", MaxDelay: 30 * time.Second}),
		heartbeats: workqueue.New(workqueue.Options[*kubelet]{Name: "node-heartbeats", MaxDelay: 5 * time.Second}),
		stageQueue: workqueue.New(workqueue.Options[*kubelet]{Name: "node-stages", MaxDelay: 30 * time.Second}),
		joining:    make(chan struct{}, joinWorkers),
	}
	ns.lifecycle = &lifecycle.Staged{
		Stages: func() stage.Stages { return ns.options.Definitions.Stages("Pod") },
		Other: &lifecycle.BuiltIn{
			StartAfter: ns.options.StartAfter, RunFor: ns.options.RunFor,
			NoEvents: ns.options.Events == NoEvents, AllEvents: ns.options.Events == AllEvents,
		},
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
	for range heartbeatWorkers {
		all.Go(func() { work(ctx, ns.heartbeats, (*kubelet).keepAlive) })
	}
	if ns.stagesNodes() {
		for range heartbeatWorkers {
			all.Go(func() { work(ctx, ns.stageQueue, (*kubelet).playNode) })
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

// work runs sync for the keys of a queue until ctx ends.
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

// serverVersion returns the version of the server; "" if it does not answer.
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
