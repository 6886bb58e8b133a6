package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// What plugins of another framework need besides filters and scores; fairlead.dev/schedulerplugins runs those of
// kube-scheduler by it.
type (
	// An Extension runs plugins at further steps of an attempt.
	Extension = framework.Extension
	// A Rescue is the result of Extension.PostFilter.
	Rescue = framework.Rescue
	// A Permission is the result of Extension.Permit.
	Permission = framework.Permission
	// A QueuedPodInfo is a pod in the queue, or stands for a Group.
	QueuedPodInfo = queue.QueuedPodInfo
	// A Group is a pod group in the queue.
	Group = queue.Group
	// A Move tells where an event moves a pod that a plugin has rejected.
	Move = queue.Move
)

// The moves.
const (
	Stay   = queue.Stay
	Retry  = queue.Retry
	AtOnce = queue.AtOnce
)

// An Attachment is the hold of plugins on a running scheduler. Its methods may be called from any goroutine.
type Attachment interface {
	// Do runs f on the goroutine that owns the cluster, between two attempts.
	Do(f func(c *Cluster))
	// Activate makes waiting pods active at once.
	Activate(uids ...types.UID)
	// MoveRejected moves pods that filter f has rejected, as hint tells for each of them. It must be called by Do. event
	// names the reason in scheduler_queue_incoming_pods_total.
	MoveRejected(f Filter, event string, hint func(*PodInfo) Move)
	// Rejected reports whether a pod waits that filter f has rejected. It must be called by Do.
	Rejected(f Filter) bool
	// Observe lets the cluster have each version of nodes and pods, also one that matters only to plugins, and reports it:
	// f is called by Do, after the cluster has changed, with nil for old if the object is new, and nil for o if it is gone. It
	// must be called in Options.Attach.
	Observe(f func(old, o client.Object))
	// Groups calls f with the pod groups, which do not change meanwhile. The Groups are valid in f only, and f must not
	// call the scheduler.
	Groups(f func(Groups))
	// GroupsInAttempt returns the pod groups as the attempt in progress has them. It must be called in an attempt, or by
	// Do, which is as long as they are valid.
	GroupsInAttempt() Groups
}

// attachment implements Attachment.
type attachment struct{ s *loop }

func (a attachment) Do(f func(c *Cluster)) {
	a.s.send(func() { f(a.s.cluster) })
}

func (a attachment) Activate(uids ...types.UID) {
	a.s.send(func() {
		for _, uid := range uids {
			a.s.queue.Activate(uid, time.Now())
		}
	})
}

func (a attachment) MoveRejected(f Filter, event string, hint func(*PodInfo) Move) {
	a.s.queue.MoveRejected(f, event, time.Now(), hint)
}

func (a attachment) Rejected(f Filter) bool { return a.s.queue.HasRejected(f) }

func (a attachment) Observe(f func(old, o client.Object)) { a.s.observe = f }

// observed adds the observer's calls to the handlers of nodes and pods.
func observed[T client.Object](s *loop, h informer.Handler[T], keep func(T)) informer.Handler[T] {
	f := s.observe
	if f == nil {
		return h
	}
	return informer.Handler[T]{
		Add: func(o T, initial bool) {
			h.Add(o, initial)
			s.send(func() { f(nil, o) })
		},
		Update: func(old, o T) {
			h.Update(old, o)
			s.send(func() {
				keep(o)
				f(old, o)
			})
		},
		Delete: func(o T) {
			h.Delete(o)
			s.send(func() { f(o, nil) })
		},
	}
}

// keepNode stores the latest version of a node in the cluster.
func (s *loop) keepNode(node *corev1.Node) {
	if n := s.cluster.Node(node.Name); n != nil {
		n.Node = node
	}
}

// keepPod stores the latest version of a pod on a node in the cluster.
func (s *loop) keepPod(pod *corev1.Pod) {
	if s.cluster.Assigned(pod.UID) != nil && pod.Spec.NodeName != "" && !isTerminal(pod) {
		p := cache.NewPodInfo(pod)
		s.cluster.AddPod(p, pod.Spec.NodeName)
	}
}

// rescue asks the plugins of another framework to help a pod that fits no node.
func (s *loop) rescue(w *queue.QueuedPodInfo, fit *framework.FitError, afterPreemption bool) framework.Rescue {
	e := s.profileOf(w).Extension
	if e == nil || fit.Chosen || fit.Nodes == 0 {
		return framework.Rescue{}
	}
	r := e.PostFilter(s.cluster, w.PodInfo, fit, afterPreemption)
	if r.Message != "" {
		fit.PostFilter = append(fit.PostFilter, r.Message)
	}
	return r
}
