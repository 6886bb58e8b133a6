package daemonset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

func (c *daemons) watch() {
	controller.Watch(c.loop, c.all, controller.Self[*appsv1.DaemonSet])
	controller.WatchFunc(c.loop, c.pods.Informer, informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { c.podAdded(p) },
		Update: c.podUpdated,
		Delete: c.podGone,
	})
	controller.WatchFunc(c.loop, c.nodes, informer.Handler[*corev1.Node]{
		Add:    func(n *corev1.Node, _ bool) { c.nodeChanged(nil, n) },
		Update: c.nodeChanged,
		Delete: func(n *corev1.Node) { c.nodeChanged(n, nil) },
	})
	// Only to wait for the first list: revisions are changed only by this controller.
	controller.WatchFunc(c.loop, c.history.Revisions.Informer, informer.Handler[*appsv1.ControllerRevision]{})
}

func (c *daemons) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		c.podGone(p)
		return
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if k, ok := c.owner(p, ref); ok {
			c.expected.Created(k)
			c.enqueueCounted(k, p)
		}
		return
	}
	c.enqueueSuitors(p)
}

func (c *daemons) podUpdated(old, p *corev1.Pod) {
	if old.ResourceVersion == p.ResourceVersion {
		return
	}
	if p.DeletionTimestamp != nil && old.DeletionTimestamp == nil {
		c.podGone(p)
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(p)
	if was != nil && (is == nil || was.UID != is.UID) {
		if k, ok := c.owner(old, was); ok {
			c.enqueue(k, p)
		}
	}
	switch {
	case is != nil:
		if k, ok := c.owner(p, is); ok {
			c.enqueue(k, p)
		}
	case was != nil || !maps.Equal(old.Labels, p.Labels):
		c.enqueueSuitors(p)
	}
}

func (c *daemons) podGone(p *corev1.Pod) {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if k, ok := c.owner(p, ref); ok {
			c.expected.Deleted(k, p.UID)
			c.enqueueCounted(k, p)
		}
	}
}

// nodeChanged wakes the sets whose decision about the node has changed. For a new or deleted node, old or node is
// nil.
func (c *daemons) nodeChanged(old, node *corev1.Node) {
	if old != nil && node != nil && maps.Equal(old.Labels, node.Labels) && apiequality.Semantic.DeepEqual(old.Spec.Taints, node.Spec.Taints) {
		return
	}
	news := node
	if news == nil {
		news = old
	}
	for _, ds := range c.all.Store().List("") {
		f := newFit(ds)
		if f.on(old) != f.on(node) || ds.Status.NumberMisscheduled > 0 {
			c.enqueue(controller.KeyOf(ds), news)
		}
	}
}

// enqueueCounted requeues the set after a pod was added or deleted: at once if the pass may create or delete,
// batched with others if expectations are pending.
func (c *daemons) enqueueCounted(k controller.Key, p *corev1.Pod) {
	if c.expected.Satisfied(k) {
		c.loop.EnqueueFor(k, p)
		return
	}
	c.enqueue(k, p)
}

func (c *daemons) enqueue(k controller.Key, because client.Object) {
	c.loop.EnqueueForAfter(k, because, c.pace.Delay(k))
}

func (c *daemons) owner(p *corev1.Pod, ref *metav1.OwnerReference) (controller.Key, bool) {
	k := controller.Key{Namespace: p.Namespace, Name: ref.Name}
	if ref.Kind != kind.Kind || ref.APIVersion != appsv1.SchemeGroupVersion.String() {
		return k, false
	}
	ds, ok := c.all.Store().Get(k.Namespace, k.Name)
	return k, ok && ds.UID == ref.UID
}

func (c *daemons) enqueueSuitors(p *corev1.Pod) {
	if len(p.Labels) == 0 {
		return
	}
	for _, ds := range c.all.Store().List(p.Namespace) {
		s, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
		if err == nil && !s.Empty() && s.Matches(labels.Set(p.Labels)) {
			c.enqueue(controller.KeyOf(ds), p)
		}
	}
}
