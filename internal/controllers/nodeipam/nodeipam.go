package nodeipam

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

type allocator struct {
	nodes    controller.Objects[*corev1.Node]
	services controller.Objects[*networkingv1.ServiceCIDR]
	ledger   *ledger
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	a := &allocator{
		nodes:    controller.ObjectsOf[*corev1.Node](env),
		services: controller.ObjectsOf[*networkingv1.ServiceCIDR](env),
		ledger:   newLedger(o.Ranges),
		rec:      env.Recorder.From("cidrAllocator", ""),
	}
	a.loop = controller.New("nodeipam", controller.ByObject(a.nodes, a.reconcile), controller.Options{})
	return a.loop.Watch(
		controller.Handles(a.nodes, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { a.seen(n) },
			Update: func(_, n *corev1.Node) { a.seen(n) },
			Delete: func(n *corev1.Node) { a.ledger.gone(n); a.wake(n) },
		}),
		controller.Handles(a.services, informer.Handler[*networkingv1.ServiceCIDR]{
			Delete: func(c *networkingv1.ServiceCIDR) { a.wake(c) },
		}),
	)
}

func (a *allocator) seen(n *corev1.Node) {
	if len(n.Spec.PodCIDRs) > 0 {
		a.ledger.has(n)
		return
	}
	a.loop.EnqueueFor(controller.KeyOf(n), n)
}

// wake enqueues the nodes that wait for a block: the deleted object may have had one.
func (a *allocator) wake(because client.Object) {
	for _, name := range a.ledger.wake() {
		a.loop.EnqueueFor(controller.Key{Name: name}, because)
	}
}

func (a *allocator) reconcile(ctx context.Context, n *corev1.Node) (controller.Result, error) {
	if len(n.Spec.PodCIDRs) > 0 || n.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	exists := func() bool {
		now, ok := a.nodes.Store().Get("", n.Name)
		return ok && now.UID == n.UID
	}
	all, ok := a.ledger.allocate(n, exists, a.isForServices)
	if !ok {
		a.rec.Event(n, corev1.EventTypeNormal, "CIDRNotAvailable", "Node %s status is now: CIDRNotAvailable", n.Name)
		return controller.Result{}, nil
	}
	if len(all) == 0 {
		return controller.Result{}, nil // the node was deleted
	}
	var texts []string
	for _, p := range all {
		texts = append(texts, p.String())
	}
	_, err := a.nodes.API.Patch(ctx, n.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": n.UID}, "spec": map[string]any{"podCIDR": texts[0], "podCIDRs": texts},
	}))
	if client.IgnoreNotFound(err) != nil {
		a.rec.Event(n, corev1.EventTypeNormal, "CIDRAssignmentFailed", "Node %s status is now: CIDRAssignmentFailed", n.Name)
	}
	return controller.Result{}, client.IgnoreNotFound(err)
}

// isForServices reports whether a block overlaps a range of cluster IPs.
func (a *allocator) isForServices(block netip.Prefix) bool {
	return slices.ContainsFunc(a.services.Store().List(""), func(c *networkingv1.ServiceCIDR) bool {
		return slices.ContainsFunc(c.Spec.CIDRs, func(text string) bool {
			p, err := netip.ParsePrefix(text)
			return err == nil && p.Overlaps(block)
		})
	})
}
