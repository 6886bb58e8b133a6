package replicas

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

func (e *engine[T]) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		e.podGone(p) // after a restart a pod may first be seen terminating
		return
	}
	if k, ok := e.owners.KeyOf(p); ok {
		e.expected.Created(k)
		e.enqueueCounted(k, p)
		return
	}
	e.enqueueAdopters(p)
}

func (e *engine[T]) podUpdated(old, p *corev1.Pod) {
	if old.ResourceVersion == p.ResourceVersion {
		return
	}
	relabelled := !maps.Equal(old.Labels, p.Labels)
	if p.DeletionTimestamp != nil {
		// Termination takes time; the replica is lost from now on.
		e.podGone(p)
		if relabelled && old.DeletionTimestamp == nil {
			e.podGone(old)
		}
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(p)
	if was != nil && (is == nil || was.UID != is.UID) {
		if k, ok := e.owners.KeyOf(old); ok {
			e.enqueue(k, p)
		}
	}
	switch {
	case is != nil:
		if !relabelled && was != nil && was.UID == is.UID && sameReplica(old, p) {
			return
		}
		if k, ok := e.owners.KeyOf(p); ok {
			e.enqueue(k, p)
		}
	case relabelled || was != nil:
		e.enqueueAdopters(p)
	}
}

func (e *engine[T]) podGone(p *corev1.Pod) {
	if k, ok := e.owners.KeyOf(p); ok {
		e.expected.Deleted(k, p.UID)
		e.enqueueCounted(k, p)
	}
}

// sameReplica reports whether two states of a pod are equal in everything that the engine counts.
func sameReplica(a, b *corev1.Pod) bool {
	return podcontrol.IsFinished(a) == podcontrol.IsFinished(b) &&
		podcontrol.IsReady(a) == podcontrol.IsReady(b) &&
		podcontrol.ReadySince(a).Equal(podcontrol.ReadySince(b))
}

// enqueueCounted requests a pass after a pod was added or deleted: at once if the pass may create or delete,
// batched with others if expectations are pending or the namespace is terminating.
func (e *engine[T]) enqueueCounted(k controller.Key, p *corev1.Pod) {
	if _, going := e.going.Load(k); !going && e.expected.Satisfied(k) {
		e.loop.EnqueueFor(k, p)
		return
	}
	e.enqueue(k, p)
}

// enqueue requests a pass when the pace allows it.
func (e *engine[T]) enqueue(k controller.Key, p *corev1.Pod) {
	if d := e.pace.Delay(k); d > 0 {
		e.loop.EnqueueForAfter(k, p, d)
		return
	}
	e.loop.EnqueueFor(k, p)
}

// enqueueAdopters wakes the objects that may adopt a pod without a controller.
func (e *engine[T]) enqueueAdopters(p *corev1.Pod) {
	for _, k := range e.owners.Adopters(p) {
		e.enqueue(k, p)
	}
}
