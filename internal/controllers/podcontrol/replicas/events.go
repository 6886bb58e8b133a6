package replicas

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

func (e *engine[T]) watchPods() {
	controller.WatchFunc(e.loop, e.owned.Informer, informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { e.podAdded(p) },
		Update: e.podUpdated,
		Delete: e.podGone,
	})
}

func (e *engine[T]) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		e.podGone(p) // after a restart a pod may first be seen terminating
		return
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if k, ok := e.owner(p, ref); ok {
			e.expected.Created(k)
			e.enqueueCounted(k, p)
		}
		return
	}
	e.enqueueSuitors(p)
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
		if k, ok := e.owner(old, was); ok {
			e.enqueue(k, p)
		}
	}
	switch {
	case is != nil:
		if !relabelled && was != nil && was.UID == is.UID && sameReplica(old, p) {
			return
		}
		if k, ok := e.owner(p, is); ok {
			e.enqueue(k, p)
		}
	case relabelled || was != nil:
		e.enqueueSuitors(p)
	}
}

func (e *engine[T]) podGone(p *corev1.Pod) {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil {
		return
	}
	if k, ok := e.owner(p, ref); ok {
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

// owner returns the object that a reference means: of our kind, existing, and with the same UID.
func (e *engine[T]) owner(p *corev1.Pod, ref *metav1.OwnerReference) (controller.Key, bool) {
	k := controller.Key{Namespace: p.Namespace, Name: ref.Name}
	if ref.Kind != e.kind.GVK.Kind {
		return k, false
	}
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || gv.Group != e.kind.GVK.Group {
		return k, false
	}
	o, ok := e.sets.Store().Get(k.Namespace, k.Name)
	return k, ok && o.GetUID() == ref.UID
}

// enqueueSuitors wakes the objects that may adopt an orphan.
func (e *engine[T]) enqueueSuitors(p *corev1.Pod) {
	if len(p.Labels) == 0 {
		return
	}
	for _, o := range e.sets.Store().List(p.Namespace) {
		v, err := e.kind.View(o)
		if err == nil && !v.Selector.Empty() && v.Selector.Matches(labels.Set(p.Labels)) {
			e.enqueue(controller.Key{Namespace: o.GetNamespace(), Name: o.GetName()}, p)
		}
	}
}
