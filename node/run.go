package node

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/workqueue"
)

const (
	// stageWorkers is how many nodes play a stage at a time.
	stageWorkers = 4
	// heartbeatWorkers is how many nodes write their lease or status at a time.
	heartbeatWorkers = 4
	// mostHeartbeatWorkers is how many do while more than waitingPerWorker nodes wait for each of them. The store syncs the writes of
	// all workers at once. And a busy server answers each write late, and a node whose lease is late becomes NotReady, as do its
	// pods: more writes.
	mostHeartbeatWorkers = 256
	waitingPerWorker     = 2
)

// Run keeps the nodes alive until ctx ends, which is no error, and all goroutines have.
// The nodes stay registered. It may be called once.
func (ns *Nodes) Run(ctx context.Context) error {
	if ns.options.Count == 0 && !ns.options.Adopt {
		<-ctx.Done()
		return nil
	}
	for i := range ns.options.Count {
		k, err := ns.kubelet(i)
		if err != nil {
			return err
		}
		ns.roster.add(k)
	}
	ns.options.KubeletVersion = cmp.Or(ns.options.KubeletVersion, ns.serverVersion(ctx), "v1.37.2-fairlead")
	if err := ns.declare(ctx); err != nil && ctx.Err() == nil {
		ns.env.Log.Warn("the server may send packets to simulated addresses", "err", err)
	}
	if err := ns.offerDevices(ctx); err != nil && ctx.Err() == nil {
		ns.env.Log.Warn("the class of the devices is missing", "err", err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer ns.work.Close() // a timer of a delayed key would keep the nodes in memory
	defer ns.heartbeats.Close()
	defer ns.stageQueue.Close()
	defer ns.supervision.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := ns.followKinds(ctx, &all); err != nil {
		return err
	}
	for range ns.options.PodWorkers {
		all.Go(func() { work(ctx, ns.work, podKey.sync) })
	}
	ns.heartbeatWorkers.Store(heartbeatWorkers)
	for range heartbeatWorkers {
		all.Go(func() { ns.beat(ctx, &all, false) })
	}
	all.Go(func() { work(ctx, ns.supervision, (*kubelet).supervise) })
	if ns.stagesNodes() {
		for range stageWorkers {
			all.Go(func() { work(ctx, ns.stageQueue, (*kubelet).playNode) })
		}
	}
	for _, k := range ns.roster.all() {
		k.start(ctx)
	}
	all.Go(func() { ns.followNodes(ctx) })
	if l := ns.options.Listener; l != nil {
		all.Go(func() { _ = ns.served.Serve(l) })
		<-ctx.Done()
		ns.served.Close()
	}
	all.Wait()
	ns.running.Wait()
	ns.watching.Wait()
	return nil
}

// work runs sync for the keys of a queue until ctx ends.
func work[K comparable](ctx context.Context, q *workqueue.Queue[K], sync func(K, context.Context) (time.Time, error)) {
	for k := range q.Work(ctx) {
		handle(ctx, q, k, sync)
	}
}

// handle runs sync for a key of a queue, and puts it back if it is to run again.
func handle[K comparable](ctx context.Context, q *workqueue.Queue[K], k K, sync func(K, context.Context) (time.Time, error)) {
	next, err := sync(k, ctx)
	if err != nil {
		q.Retry(k)
		return
	}
	q.Forget(k)
	if !next.IsZero() {
		q.AddAfter(k, time.Until(next))
	}
}

// beat is work for heartbeats. While many nodes wait it starts others, which end when none waits.
func (ns *Nodes) beat(ctx context.Context, all *sync.WaitGroup, helps bool) {
	if helps {
		defer ns.heartbeatWorkers.Add(-1)
	}
	for k := range ns.heartbeats.Work(ctx) {
		workers, waiting := ns.heartbeatWorkers.Load(), int32(ns.heartbeats.Len())
		if waiting > workers*waitingPerWorker && workers < mostHeartbeatWorkers && ns.heartbeatWorkers.CompareAndSwap(workers, workers+1) {
			all.Go(func() { ns.beat(ctx, all, true) })
		}
		handle(ctx, ns.heartbeats, k, (*kubelet).keepAlive)
		if helps && waiting == 0 {
			return
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
