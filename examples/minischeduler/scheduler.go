package main

import (
	"context"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/workqueue"
)

// mini places the pods whose schedulerName is "mini", one after the other, each where most
// CPU is left.
type mini struct {
	queue   *workqueue.Queue[types.NamespacedName] // pods to try
	nodes   *informer.Store[*corev1.Node]          // the node cache
	pods    *informer.Store[*corev1.Pod]           // the pod cache,
	assumed map[types.UID]string                   // and where the pods go that it does not show there yet
	api     client.Resource[*corev1.Pod]
}

func run(ctx context.Context, c *client.Client) error {
	set := informer.NewSet(c)
	pods, nodes := informer.For[*corev1.Pod](set), informer.For[*corev1.Node](set)
	m := &mini{queue: workqueue.New(workqueue.Options[types.NamespacedName]{Name: "mini"}), nodes: nodes.Store(), pods: pods.Store(),
		assumed: map[types.UID]string{}, api: client.For[*corev1.Pod](c)}
	told := pods.Handle(informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { m.try(p) },
		Update: func(_, p *corev1.Pod) { m.try(p) },
		Delete: func(*corev1.Pod) { m.retry() }})
	nodes.Handle(informer.Handler[*corev1.Node]{
		Add:    func(*corev1.Node, bool) { m.retry() },
		Update: func(_, _ *corev1.Node) { m.retry() }})
	set.Start(ctx)
	defer set.Stop()
	select {
	case <-told.Synced(): // bound pods count before any pod is placed
	case <-ctx.Done():
	}
	for name := range m.queue.Work(ctx) {
		m.schedule(ctx, name)
	}
	return nil
}

// try queues a pod that waits for a node. One that has ended makes room for others.
func (m *mini) try(p *corev1.Pod) {
	if waits(p) {
		m.queue.Add(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	} else if ended(p) {
		m.retry()
	}
}

// retry queues all pods that wait: something has changed, so that they may fit now.
func (m *mini) retry() {
	for _, p := range m.pods.List("") {
		if waits(p) {
			m.try(p)
		}
	}
}

// schedule assigns one pod to a node; if no node fits, the pod waits for the next retry.
func (m *mini) schedule(ctx context.Context, name types.NamespacedName) {
	pod, ok := m.pods.Get(name.Namespace, name.Name)
	if !ok || !waits(pod) || m.assumed[pod.UID] != "" {
		return
	}
	node := m.best(pod)
	if node == "" {
		return
	}
	m.assumed[pod.UID] = node
	if err := m.api.Namespace(name.Namespace).CreateSubresource(ctx, name.Name, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, nil); err != nil {
		log.Printf("binding %s to %s: %v", name, node, err)
		delete(m.assumed, pod.UID)
		m.queue.AddAfter(name, time.Second)
	}
}

// best is the fitting node with the most CPU left, "" if no node fits.
func (m *mini) best(pod *corev1.Pod) (best string) {
	used, still := map[string]int64{}, map[types.UID]string{}
	for _, p := range m.pods.List("") {
		node := p.Spec.NodeName
		if node == "" && m.assumed[p.UID] != "" {
			node = m.assumed[p.UID]
			still[p.UID] = node
		}
		if !ended(p) {
			used[node] += cpu(p)
		}
	}
	m.assumed = still
	most := cpu(pod)
	for _, n := range m.nodes.List("") {
		left := n.Status.Allocatable.Cpu().MilliValue() - used[n.Name]
		if left >= most && !n.Spec.Unschedulable && len(n.Spec.Taints) == 0 {
			best, most = n.Name, left
		}
	}
	return best
}

func waits(p *corev1.Pod) bool {
	return p.Spec.SchedulerName == "mini" && p.Spec.NodeName == "" && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func cpu(p *corev1.Pod) (milli int64) {
	for _, c := range p.Spec.Containers {
		milli += c.Resources.Requests.Cpu().MilliValue()
	}
	return milli
}
