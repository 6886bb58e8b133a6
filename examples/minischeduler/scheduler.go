package main

import (
	"context"
	"log"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/workqueue"
)

// mini places the pods whose schedulerName is "mini", each where most CPU is left.
type mini struct {
	api   client.Resource[*corev1.Pod]
	pods  *informer.Informer[*corev1.Pod]
	nodes *informer.Informer[*corev1.Node]
	queue *workqueue.Queue[types.NamespacedName] // the pods to try
	cache struct {
		sync.Mutex
		nodes   map[string]*corev1.Node
		placed  map[types.UID]*corev1.Pod // on a node, or assumed there while it is bound
		waiting map[types.NamespacedName]bool
	}
}

func newMini(c *client.Client) *mini {
	m := &mini{
		api:   client.For[*corev1.Pod](c),
		queue: workqueue.New(workqueue.Options[types.NamespacedName]{Name: "mini"}),
	}
	m.pods = informer.New(m.api, informer.Options[*corev1.Pod]{})
	m.nodes = informer.New(client.For[*corev1.Node](c), informer.Options[*corev1.Node]{})
	m.cache.nodes = map[string]*corev1.Node{}
	m.cache.placed = map[types.UID]*corev1.Pod{}
	m.cache.waiting = map[types.NamespacedName]bool{}
	m.nodes.Handle(informer.Handler[*corev1.Node]{
		Add:    func(n *corev1.Node, _ bool) { m.changed(func() { m.cache.nodes[n.Name] = n }) },
		Update: func(_, n *corev1.Node) { m.changed(func() { m.cache.nodes[n.Name] = n }) },
		Delete: func(n *corev1.Node) { m.changed(func() { delete(m.cache.nodes, n.Name) }) },
	})
	m.pods.Handle(informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { m.seen(p) },
		Update: func(_, p *corev1.Pod) { m.seen(p) },
		Delete: func(p *corev1.Pod) { m.changed(func() { delete(m.cache.placed, p.UID) }) },
	})
	return m
}

func (m *mini) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.nodes.Run(ctx) })
	g.Go(func() error { return m.pods.Run(ctx) })
	g.Go(func() error {
		for pod := range m.queue.Work(ctx) {
			m.schedule(ctx, pod)
		}
		return nil
	})
	return g.Wait()
}

// seen takes in a pod as the watch tells it.
func (m *mini) seen(p *corev1.Pod) {
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		m.changed(func() { delete(m.cache.placed, p.UID) })
	case p.Spec.NodeName != "":
		m.cache.Lock()
		m.cache.placed[p.UID] = p
		m.cache.Unlock()
	case p.Spec.SchedulerName == "mini" && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0:
		m.queue.Add(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	}
}

// changed makes a change after which pods that fit nowhere may fit, and tries those.
func (m *mini) changed(change func()) {
	m.cache.Lock()
	defer m.cache.Unlock()
	change()
	for pod := range m.cache.waiting {
		delete(m.cache.waiting, pod)
		m.queue.Add(pod)
	}
}

// schedule gives one pod a node: pick, assume, bind.
func (m *mini) schedule(ctx context.Context, key types.NamespacedName) {
	pod, ok := m.pods.Store().Get(key.Namespace, key.Name)
	if !ok || pod.Spec.NodeName != "" {
		m.queue.Forget(key)
		return
	}
	node := m.assume(pod, key)
	if node == "" {
		return
	}
	err := m.api.Namespace(pod.Namespace).Post(ctx, pod.Name, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, nil)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		m.queue.Forget(key) // the watch tells what became of it
		return
	}
	log.Printf("binding %s to %s: %v", key, node, err)
	m.changed(func() { delete(m.cache.placed, pod.UID) })
	m.queue.Retry(key)
}

// assume counts the pod on the node with the most CPU left; "" if it fits on none, and
// then it waits for a change.
func (m *mini) assume(pod *corev1.Pod, key types.NamespacedName) (best string) {
	m.cache.Lock()
	defer m.cache.Unlock()
	if m.cache.placed[pod.UID] != nil {
		return "" // bound already; the pods' copy is behind
	}
	free := map[string]int64{}
	for name, n := range m.cache.nodes {
		if !n.Spec.Unschedulable && len(n.Spec.Taints) == 0 {
			free[name] = n.Status.Allocatable.Cpu().MilliValue() - cpu(pod)
		}
	}
	for _, p := range m.cache.placed {
		if _, known := free[p.Spec.NodeName]; known {
			free[p.Spec.NodeName] -= cpu(p)
		}
	}
	for name, left := range free {
		if left >= 0 && (best == "" || left > free[best]) {
			best = name
		}
	}
	if best == "" {
		m.cache.waiting[key] = true
		return ""
	}
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = best
	m.cache.placed[pod.UID] = assumed
	return best
}

func cpu(p *corev1.Pod) (milli int64) {
	for _, c := range p.Spec.Containers {
		milli += c.Resources.Requests.Cpu().MilliValue()
	}
	return milli
}
