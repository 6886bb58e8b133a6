package main

import (
	"context"
	"log"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/workqueue"
)

// mini places the pods whose schedulerName is "mini", each where most CPU is left.
type mini struct {
	queue *workqueue.Queue[types.NamespacedName] // the pods to try
	api   client.Resource[*corev1.Pod]
	pods  *informer.Informer[*corev1.Pod]
	nodes *informer.Informer[*corev1.Node] // the node cache is its store

	mu     sync.Mutex
	placed map[types.UID]placement       // the pod cache: what is bound, and what is about to be
	stuck  map[types.NamespacedName]bool // what fits nowhere as things are
}

type placement struct {
	node string
	cpu  int64 // in thousandths
}

func newMini(c *client.Client) *mini {
	m := &mini{api: client.For[*corev1.Pod](c), placed: map[types.UID]placement{}, stuck: map[types.NamespacedName]bool{},
		queue: workqueue.New(workqueue.Options[types.NamespacedName]{Name: "mini"})}
	m.pods = informer.New(m.api, informer.Options[*corev1.Pod]{})
	m.pods.Handle(informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { m.seen(p) },
		Update: func(_, p *corev1.Pod) { m.seen(p) },
		Delete: func(p *corev1.Pod) { m.freed(p.UID) },
	})
	m.nodes = informer.New(client.For[*corev1.Node](c), informer.Options[*corev1.Node]{})
	m.nodes.Handle(informer.Handler[*corev1.Node]{
		Add:    func(*corev1.Node, bool) { m.freed("") },
		Update: func(_, _ *corev1.Node) { m.freed("") },
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
		m.freed(p.UID)
	case p.Spec.NodeName != "":
		m.mu.Lock()
		m.placed[p.UID] = placement{p.Spec.NodeName, cpu(p)}
		m.mu.Unlock()
	case p.Spec.SchedulerName == "mini" && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0:
		m.queue.Add(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	}
}

// freed takes a pod out of the cache; after that, or a change of a node, others may fit.
func (m *mini) freed(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.placed, uid)
	for pod := range m.stuck {
		delete(m.stuck, pod)
		m.queue.Add(pod)
	}
}

// schedule gives one pod a node: assume, bind.
func (m *mini) schedule(ctx context.Context, name types.NamespacedName) {
	pod, ok := m.pods.Store().Get(name.Namespace, name.Name)
	if !ok || pod.Spec.NodeName != "" {
		m.queue.Forget(name)
		return
	}
	node := m.assume(pod, name)
	if node == "" {
		return
	}
	if err := m.api.Namespace(pod.Namespace).Post(ctx, pod.Name, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, nil); err != nil {
		log.Printf("binding %s to %s: %v", name, node, err)
		m.queue.Retry(name)
	}
}

// assume counts the pod on the node with the most CPU left; if it fits on none it waits.
func (m *mini) assume(pod *corev1.Pod, name types.NamespacedName) (best string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, assumed := m.placed[pod.UID]; assumed {
		return p.node // binding it failed, or the informer does not show it yet
	}
	free := map[string]int64{}
	for _, n := range m.nodes.Store().List("") {
		if !n.Spec.Unschedulable && len(n.Spec.Taints) == 0 {
			free[n.Name] = n.Status.Allocatable.Cpu().MilliValue()
		}
	}
	for _, p := range m.placed {
		if _, known := free[p.node]; known {
			free[p.node] -= p.cpu
		}
	}
	for node, left := range free {
		if left >= cpu(pod) && (best == "" || left > free[best]) {
			best = node
		}
	}
	if best == "" {
		m.stuck[name] = true
		return ""
	}
	m.placed[pod.UID] = placement{best, cpu(pod)}
	return best
}

func cpu(p *corev1.Pod) (milli int64) {
	for _, c := range p.Spec.Containers {
		milli += c.Resources.Requests.Cpu().MilliValue()
	}
	return milli
}
