package nodelifecycle

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/controller/podcontrol"
	"fairlead.dev/informer"
)

const (
	grace        = 50 * time.Second
	startupGrace = 60 * time.Second
	byNode       = "node"
)

type lifecycle struct {
	nodesAPI client.Resource[*corev1.Node]
	podsAPI  client.Resource[*corev1.Pod]
	nodes    *informer.Informer[*corev1.Node]
	pods     *informer.Informer[*corev1.Pod]
	leases   *informer.Informer[*coordinationv1.Lease]
	heard    hearing
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the node lifecycle controller.
func New(env controller.Env) controller.Runner {
	c := &lifecycle{
		nodesAPI: client.For[*corev1.Node](env.Client),
		podsAPI:  client.For[*corev1.Pod](env.Client),
		nodes:    informer.In[*corev1.Node](env.Informers),
		pods:     informer.In[*corev1.Pod](env.Informers),
		leases: informer.New(client.For[*coordinationv1.Lease](env.Informers.Client()), informer.Options[*coordinationv1.Lease]{
			Namespace: corev1.NamespaceNodeLease,
		}),
		rec: env.Recorder.From("node-controller", ""),
	}
	c.pods.Index(byNode, func(p *corev1.Pod) []string {
		if p.Spec.NodeName == "" {
			return nil
		}
		return []string{p.Spec.NodeName}
	})
	c.loop = controller.New("nodelifecycle", c.reconcile, controller.Options{})
	c.watch()
	return c
}

// Run runs the loop and the informer of node leases.
func (c *lifecycle) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.leases.Run(ctx) })
	g.Go(func() error { return c.loop.Run(ctx) })
	return g.Wait()
}

func (c *lifecycle) watch() {
	controller.WatchFunc(c.loop, c.nodes, informer.Handler[*corev1.Node]{
		Add: func(n *corev1.Node, _ bool) {
			c.heard.from(n.Name)
			c.wake(n, isReady(n))
		},
		Update: func(old, n *corev1.Node) {
			if beat(old) != beat(n) {
				c.heard.from(n.Name)
			}
			c.wake(n, isReady(old) != isReady(n))
		},
		Delete: func(n *corev1.Node) {
			c.heard.forget(n.Name)
			c.wake(n, isReady(n))
		},
	})
	controller.WatchFunc(c.loop, c.leases, informer.Handler[*coordinationv1.Lease]{
		Add: func(l *coordinationv1.Lease, _ bool) { c.heard.from(l.Name) },
		Update: func(old, l *coordinationv1.Lease) {
			if a, b := old.Spec.RenewTime, l.Spec.RenewTime; b != nil && (a == nil || !a.Equal(b)) {
				c.heard.from(l.Name)
			}
		},
	})
}

// wake has a node looked at, and all that are in trouble too when it may matter
// to them whether any node is ready.
func (c *lifecycle) wake(n *corev1.Node, readinessMoved bool) {
	c.loop.Enqueue(controller.KeyOf(n))
	if !readinessMoved {
		return
	}
	for _, other := range c.nodes.Store().List("") {
		if !isReady(other) {
			c.loop.Enqueue(controller.KeyOf(other))
		}
	}
}

func (c *lifecycle) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	n, ok := c.nodes.Store().Get("", k.Name)
	if !ok {
		return controller.Result{}, nil
	}
	patience := grace
	if condition(n, corev1.NodeReady) == nil {
		patience = startupGrace
	}
	left := patience - c.heard.ago(n.Name)
	var err error
	if left <= 0 {
		if n, err = c.markUnknown(ctx, n); err != nil {
			return controller.Result{}, ignoreNotFound(err)
		}
		left = patience // it may come back by itself; its event tells
	}
	if err := c.taint(ctx, n); err != nil {
		return controller.Result{}, ignoreNotFound(err)
	}
	if !isReady(n) {
		if err := c.markPods(ctx, n); err != nil {
			return controller.Result{}, err
		}
	}
	return controller.Result{RequeueAfter: left}, nil
}

func condition(n *corev1.Node, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == t {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

func isReady(n *corev1.Node) bool {
	c := condition(n, corev1.NodeReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// beat is when the kubelet last wrote that the node is ready or not.
func beat(n *corev1.Node) time.Time {
	if c := condition(n, corev1.NodeReady); c != nil {
		return c.LastHeartbeatTime.UTC()
	}
	return time.Time{}
}

// markPods says of the node's pods that they are not ready: nobody can tell.
func (c *lifecycle) markPods(ctx context.Context, n *corev1.Node) error {
	var ready []*corev1.Pod
	for _, p := range c.pods.Store().ByIndex(byNode, n.Name) {
		if podcontrol.IsReady(p) {
			ready = append(ready, p)
		}
	}
	_, err := podcontrol.Parallel(len(ready), func(i int) error { return c.markPod(ctx, ready[i]) })
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
