package podgc

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	// threshold is the number of finished pods that are kept.
	threshold = 12500
	// quarantine is the time a deleted node has to come back.
	quarantine = 40 * time.Second
	// lull batches finished pods beyond the threshold into one pass.
	lull = 5 * time.Second

	byNode     = "node"
	byFinished = "finished"
)

// finishedKey is the key of the pass over finished pods. It cannot be a pod's or a node's: pods have a namespace,
// and nodes' names have no space.
var finishedKey = controller.Key{Name: "finished pods"}

type collector struct {
	env   controller.Env
	pods  controller.Objects[*corev1.Pod]
	nodes controller.Objects[*corev1.Node]
	loop  *controller.Controller
}

// New returns the pod garbage collector.
func New(env controller.Env) controller.Runner {
	c := &collector{
		env:   env,
		pods:  controller.ObjectsOf[*corev1.Pod](env),
		nodes: controller.ObjectsOf[*corev1.Node](env),
	}
	c.pods.Index(byNode, func(p *corev1.Pod) []string {
		if p.Spec.NodeName == "" {
			return nil
		}
		return []string{p.Spec.NodeName}
	})
	c.pods.Index(byFinished, func(p *corev1.Pod) []string {
		if !podcontrol.IsFinished(p) {
			return nil
		}
		return []string{""}
	})
	c.loop = controller.New("podgc", c.reconcile, controller.Options{})
	return c.loop.Watch(
		controller.Handles(c.nodes, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { c.nodeSeen(n) },
			Update: func(_, n *corev1.Node) { c.nodeSeen(n) },
			Delete: func(n *corev1.Node) { c.loop.EnqueueForAfter(controller.KeyOf(n), n, quarantine) },
		}),
		controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { c.podSeen(nil, p) },
			Update: c.podSeen,
		}),
	)
}

func (c *collector) nodeSeen(n *corev1.Node) {
	if outOfService(n) {
		c.loop.EnqueueFor(controller.KeyOf(n), n)
	}
}

// podSeen enqueues the work that a pod's new state requires, if any.
func (c *collector) podSeen(old, p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		if p.DeletionTimestamp != nil {
			c.loop.EnqueueFor(controller.KeyOf(p), p)
		}
	} else if old == nil || old.Spec.NodeName == "" || (old.DeletionTimestamp == nil && p.DeletionTimestamp != nil) {
		n, ok := c.nodes.Store().Get("", p.Spec.NodeName)
		if !ok {
			c.loop.EnqueueForAfter(controller.Key{Name: p.Spec.NodeName}, p, quarantine)
		} else if p.DeletionTimestamp != nil && outOfService(n) {
			c.loop.EnqueueFor(controller.Key{Name: n.Name}, p)
		}
	}
	if podcontrol.IsFinished(p) && (old == nil || !podcontrol.IsFinished(old)) {
		c.loop.EnqueueForAfter(finishedKey, p, lull)
	}
}

func (c *collector) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	switch {
	case k == finishedKey:
		return controller.Result{}, c.trimFinished(ctx)
	case k.Namespace == "":
		return controller.Result{}, c.clearNode(ctx, k.Name)
	}
	p, ok := c.pods.Store().Get(k.Namespace, k.Name)
	if !ok || p.DeletionTimestamp == nil || p.Spec.NodeName != "" {
		return controller.Result{}, nil
	}
	return controller.Result{}, c.remove(ctx, p, nil)
}

// clearNode deletes the pods of a deleted node, or the terminating pods of one that is out of service.
func (c *collector) clearNode(ctx context.Context, name string) error {
	pods := c.pods.Store().ByIndex(byNode, name)
	if n, ok := c.nodes.Store().Get("", name); ok {
		if !outOfService(n) {
			return nil
		}
		return c.removeAll(ctx, pods, nil, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	}
	if len(pods) == 0 {
		return nil
	}
	if _, err := c.nodes.API.Get(ctx, name); !apierrors.IsNotFound(err) {
		return err // it exists after all, or the request failed
	}
	return c.removeAll(ctx, pods, orphaned(), func(*corev1.Pod) bool { return true })
}

// outOfService reports whether a NotReady node has been declared out of service by an administrator.
func outOfService(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	for _, t := range n.Spec.Taints {
		if t.Key == corev1.TaintNodeOutOfService {
			return true
		}
	}
	return false
}
