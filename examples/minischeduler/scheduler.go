package main

import (
	"context"
	"log"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/workqueue"
)

// mini places the pods whose schedulerName is "mini", each where most CPU is left.
type mini struct {
	queue *workqueue.Queue[types.NamespacedName] // pods to try
	api   client.Resource[*corev1.Pod]
	pods  *informer.Store[*corev1.Pod]
	nodes *informer.Store[*corev1.Node] // the node cache

	mu     sync.Mutex
	placed map[types.UID]*corev1.Pod     // the pod cache: what is bound, and what is about to be
	stuck  map[types.NamespacedName]bool // what fits nowhere as things are
}

func run(ctx context.Context, c *client.Client) error {
	set := informer.NewSet(c)
	pods, nodes := informer.In[*corev1.Pod](set), informer.In[*corev1.Node](set)
	m := &mini{queue: workqueue.New(workqueue.Options[types.NamespacedName]{Name: "mini"}),
		api: client.For[*corev1.Pod](c), pods: pods.Store(), nodes: nodes.Store(),
		placed: map[types.UID]*corev1.Pod{}, stuck: map[types.NamespacedName]bool{}}
	told := pods.Handle(informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { m.seen(p) },
		Update: func(_, p *corev1.Pod) { m.seen(p) },
		Delete: func(p *corev1.Pod) { m.freed(p.UID) }})
	nodes.Handle(informer.Handler[*corev1.Node]{
		Add:    func(*corev1.Node, bool) { m.freed("") },
		Update: func(_, _ *corev1.Node) { m.freed("") }})
	set.Start(ctx)
	defer set.Stop()
	select {
	case <-told.Synced(): // what is bound already counts before anything is placed
	case <-ctx.Done():
	}
	for name := range m.queue.Work(ctx) {
		m.schedule(ctx, name)
	}
	return nil
}

// seen takes in a pod as the watch tells it.
func (m *mini) seen(p *corev1.Pod) {
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		m.freed(p.UID)
	case p.Spec.NodeName != "":
		m.mu.Lock()
		m.placed[p.UID] = p
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
	for name := range m.stuck {
		m.queue.Add(name)
	}
	clear(m.stuck)
}

// schedule gives one pod a node: assume, bind.
func (m *mini) schedule(ctx context.Context, name types.NamespacedName) {
	pod, ok := m.pods.Get(name.Namespace, name.Name)
	if !ok || pod.Spec.NodeName != "" {
		m.queue.Forget(name)
		return
	}
	node := m.assume(pod, name)
	if node == "" {
		return
	}
	if err := m.api.Namespace(name.Namespace).Post(ctx, name.Name, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: pod.UID},
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
		return p.Spec.NodeName // binding it failed, or the informer does not show it yet
	}
	used := map[string]int64{}
	for _, p := range m.placed {
		used[p.Spec.NodeName] += cpu(p)
	}
	most := cpu(pod)
	for _, n := range m.nodes.List("") {
		left := n.Status.Allocatable.Cpu().MilliValue() - used[n.Name]
		if left >= most && !n.Spec.Unschedulable && len(n.Spec.Taints) == 0 {
			best, most = n.Name, left
		}
	}
	if best == "" {
		m.stuck[name] = true
		return ""
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = best
	m.placed[pod.UID] = pod
	return best
}

func cpu(p *corev1.Pod) (milli int64) {
	for _, c := range p.Spec.Containers {
		milli += c.Resources.Requests.Cpu().MilliValue()
	}
	return milli
}
