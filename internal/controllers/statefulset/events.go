package statefulset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

func (c *sets) watch() {
	controller.Watch(c.loop, c.all, controller.Self[*appsv1.StatefulSet])
	controller.WatchFunc(c.loop, c.pods.Informer, informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { c.podChanged(p, true) },
		Update: c.podUpdated,
		Delete: c.podGone,
	})
	controller.WatchFunc(c.loop, c.claims, informer.Handler[*corev1.PersistentVolumeClaim]{Delete: c.claimGone})
	// Only to wait for the first list: revisions are changed only by this controller.
	controller.WatchFunc(c.loop, c.history.Revisions.Informer, informer.Handler[*appsv1.ControllerRevision]{})
}

func (c *sets) podUpdated(old, p *corev1.Pod) {
	if old.ResourceVersion == p.ResourceVersion {
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(p)
	if was != nil && (is == nil || was.UID != is.UID) {
		if k, ok := c.owner(old, was); ok {
			c.loop.EnqueueFor(k, p)
		}
	}
	c.podChanged(p, was != nil || !maps.Equal(old.Labels, p.Labels))
}

func (c *sets) podGone(p *corev1.Pod) {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if k, ok := c.owner(p, ref); ok {
			c.written.Gone(k, p.UID)
			c.loop.EnqueueFor(k, p)
		}
	}
}

// podChanged wakes the set that owns the pod or, for an orphan that may have changed, those that might adopt it.
func (c *sets) podChanged(p *corev1.Pod, news bool) {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if k, ok := c.owner(p, ref); ok {
			c.loop.EnqueueFor(k, p)
		}
		return
	}
	if !news || p.DeletionTimestamp != nil || len(p.Labels) == 0 {
		return
	}
	for _, set := range c.all.Store().List(p.Namespace) {
		s, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		if err == nil && !s.Empty() && s.Matches(labels.Set(p.Labels)) {
			c.loop.EnqueueFor(controller.KeyOf(set), p)
		}
	}
}

// claimGone wakes the set whose pod waits for the deletion of an earlier pod's claim.
func (c *sets) claimGone(claim *corev1.PersistentVolumeClaim) {
	for _, set := range c.all.Store().List(claim.Namespace) {
		if ownsClaim(set, claim.Name) {
			c.loop.EnqueueFor(controller.KeyOf(set), claim)
		}
	}
}

func (c *sets) owner(p *corev1.Pod, ref *metav1.OwnerReference) (controller.Key, bool) {
	k := controller.Key{Namespace: p.Namespace, Name: ref.Name}
	if ref.Kind != kind.Kind || ref.APIVersion != appsv1.SchemeGroupVersion.String() {
		return k, false
	}
	set, ok := c.all.Store().Get(k.Namespace, k.Name)
	return k, ok && set.UID == ref.UID
}
