// Package ttl annotates each node with the seconds for which its kubelet may cache Secrets and ConfigMaps:
// node.alpha.kubernetes.io/ttl, 0 in a small cluster and increasing with the number of nodes.
//
// The steps overlap, so that a cluster near a bound does not alternate between two. When the cluster passes a
// bound, each node follows with its next change.
package ttl

import (
	"context"
	"math"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// step is the TTL for a range of cluster sizes.
type step struct{ least, most, seconds int }

var steps = []step{
	{0, 100, 0},
	{90, 500, 15},
	{450, 1000, 30},
	{900, 2000, 60},
	{1800, math.MaxInt, 300},
}

type teller struct {
	nodes controller.Objects[*corev1.Node]

	mu struct {
		sync.Mutex
		nodes, step int
	}
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	t := &teller{nodes: controller.ObjectsOf[*corev1.Node](env)}
	loop := controller.New("ttl", controller.ByObject(t.nodes, t.reconcile), controller.Options{})
	look := func(n *corev1.Node) {
		if !says(n, t.seconds()) {
			loop.EnqueueFor(controller.KeyOf(n), n)
		}
	}
	return loop.Watch(controller.Handles(t.nodes, informer.Handler[*corev1.Node]{
		Add:    func(n *corev1.Node, _ bool) { t.count(1); look(n) },
		Update: func(_, n *corev1.Node) { look(n) },
		Delete: func(*corev1.Node) { t.count(-1) },
	}))
}

func (t *teller) count(more int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.nodes += more
	switch now := steps[t.mu.step]; {
	case t.mu.nodes > now.most:
		t.mu.step++
	case t.mu.nodes < now.least:
		t.mu.step--
	}
}

func (t *teller) seconds() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return steps[t.mu.step].seconds
}

// says reports whether the node has that TTL.
func says(n *corev1.Node, seconds int) bool {
	have, err := strconv.Atoi(n.Annotations[corev1.ObjectTTLAnnotationKey])
	return err == nil && have == seconds
}

func (t *teller) reconcile(ctx context.Context, n *corev1.Node) (controller.Result, error) {
	seconds := t.seconds()
	if says(n, seconds) {
		return controller.Result{}, nil
	}
	_, err := t.nodes.API.Patch(ctx, n.Name, client.MergePatch(map[string]any{"metadata": map[string]any{
		"uid": n.UID, "annotations": map[string]string{corev1.ObjectTTLAnnotationKey: strconv.Itoa(seconds)},
	}}))
	return controller.Result{}, client.IgnoreNotFound(err)
}
