package nodelifecycle

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/condition"
)

const byNode = "node"

type lifecycle struct {
	o          Options
	nodes      controller.Objects[*corev1.Node]
	pods       controller.Objects[*corev1.Pod]
	leases     *informer.Informer[*coordinationv1.Lease]
	leaseAPI   client.Resource[*coordinationv1.Lease]
	heartbeats heartbeatTimes
	zones      *zones
	rec        *client.Recorder
	loop       *controller.Controller // keys without a namespace are nodes, the others pods
}

// New returns the node lifecycle controller.
func New(env controller.Env, o Options) controller.Runner {
	c := &lifecycle{
		o:     o.withDefaults(),
		nodes: controller.ObjectsOf[*corev1.Node](env),
		pods:  controller.ObjectsOf[*corev1.Pod](env),
		leases: informer.New(client.For[*coordinationv1.Lease](env.Informers.Client()), informer.Options[*coordinationv1.Lease]{
			Namespace: corev1.NamespaceNodeLease,
		}),
		leaseAPI: client.For[*coordinationv1.Lease](env.Client).Namespace(corev1.NamespaceNodeLease),
		rec:      env.Recorder,
	}
	c.pods.Index(byNode, func(p *corev1.Pod) []string {
		if p.Spec.NodeName == "" {
			return nil
		}
		return []string{p.Spec.NodeName}
	})
	c.loop = controller.New("nodelifecycle", c.reconcile, controller.Options{Workers: 8})
	c.zones = newZones(c.o.Pace, func(node string, after time.Duration) {
		c.loop.EnqueueAfter(controller.Key{Name: node}, after)
	})
	c.watch()
	return controller.Runners{c.leases, c.loop}
}

// watch has handlers for all its sources: they keep heartbeats and zones, which decide about other nodes too, so that
// no mapping of the changed object alone names the keys.
func (c *lifecycle) watch() {
	c.loop.Watch(controller.Handles(c.nodes, informer.Handler[*corev1.Node]{
		Add: func(n *corev1.Node, _ bool) {
			since := time.Now()
			lease, beats := c.leases.Store().Get(corev1.NamespaceNodeLease, n.Name)
			if !beats && nodeCondition(n, corev1.NodeReady) == nil {
				since = n.CreationTimestamp.Time
			}
			c.heartbeats.know(n.Name, since, duration(lease))
			c.rec.Event(n, corev1.EventTypeNormal, "RegisteredNode", "Node %s event: Registered Node %s in Controller", n.Name, n.Name)
			c.checkVersion(n, "")
			c.seen(n, c.zones.set(n))
		},
		Update: func(old, n *corev1.Node) {
			if !lastHeartbeat(old).Equal(lastHeartbeat(n)) {
				c.heartbeats.from(n.Name)
			}
			c.checkVersion(n, old.Status.NodeInfo.KubeletVersion)
			c.seen(n, c.zones.set(n))
		},
		Delete: func(n *corev1.Node) {
			c.heartbeats.forget(n.Name)
			c.rec.Event(n, corev1.EventTypeNormal, "RemovingNode", "Node %s event: Removing Node %s from Controller", n.Name, n.Name)
			c.seen(n, c.zones.drop(n.Name))
		},
	}), controller.Handles(c.leases, informer.Handler[*coordinationv1.Lease]{
		Add: func(l *coordinationv1.Lease, _ bool) { c.heartbeats.fromLease(l.Name, duration(l)) },
		Update: func(old, l *coordinationv1.Lease) {
			// On a clock that stands still a Lease may be renewed, for a shorter time, at the instant of the last renewal.
			renewed := old.Spec.RenewTime.Before(l.Spec.RenewTime) || duration(old) != duration(l)
			if renewed && c.heartbeats.fromLease(l.Name, duration(l)) {
				c.loop.EnqueueFor(controller.Key{Name: l.Name}, l)
			}
		},
	}), controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
		Add: func(p *corev1.Pod, _ bool) { c.landed(p) },
		Update: func(old, p *corev1.Pod) {
			if old.Spec.NodeName != p.Spec.NodeName {
				c.landed(p)
			}
		},
	}))
}

// duration returns the duration of a Lease, 0 for nil and for a Lease without leaseDurationSeconds.
func duration(l *coordinationv1.Lease) time.Duration {
	if l == nil || l.Spec.LeaseDurationSeconds == nil {
		return 0
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}

// seen enqueues a node, and all nodes when the first became ready or the last became NotReady.
func (c *lifecycle) seen(n *corev1.Node, turned bool) {
	c.loop.EnqueueFor(controller.KeyOf(n), n)
	if !turned {
		return
	}
	if !c.zones.down() {
		c.heartbeats.fromAll()
	}
	for _, name := range c.zones.all() {
		c.loop.EnqueueFor(controller.Key{Name: name}, n)
	}
}

// landed enqueues a pod that was bound to a node that is not ready.
func (c *lifecycle) landed(p *corev1.Pod) {
	if n, ok := c.nodes.Store().Get("", p.Spec.NodeName); ok && isBad(n) {
		c.loop.EnqueueFor(controller.KeyOf(p), p)
	}
}

func (c *lifecycle) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	if k.Namespace != "" {
		return controller.Result{}, c.reconcilePod(ctx, k)
	}
	n, ok := c.nodes.Store().Get("", k.Name)
	if !ok {
		return controller.Result{}, nil
	}
	n, left, err := c.checkHeartbeat(ctx, n)
	if err == nil {
		err = c.mark(ctx, n)
	}
	if err == nil {
		err = c.markPods(ctx, n)
	}
	return controller.Result{RequeueAfter: left}, client.IgnoreNotFound(err)
}

func nodeCondition(n *corev1.Node, t corev1.NodeConditionType) *corev1.NodeCondition {
	return condition.Find(n.Status.Conditions, func(c *corev1.NodeCondition) bool { return c.Type == t })
}

func isReady(n *corev1.Node) bool {
	c := nodeCondition(n, corev1.NodeReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// isBad reports whether the node is known not to be ready, or not known to be.
func isBad(n *corev1.Node) bool { return nodeCondition(n, corev1.NodeReady) != nil && !isReady(n) }
