package daemonset

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

func (c *daemons) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		c.podGone(p)
		return
	}
	if k, ok := c.owners.KeyOf(p); ok {
		c.expected.Created(k)
		c.enqueueCounted(k, p)
		return
	}
	c.enqueueAdopters(p)
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
		if k, ok := c.owners.KeyOf(old); ok {
			c.enqueue(k, p)
		}
	}
	switch {
	case is != nil:
		if k, ok := c.owners.KeyOf(p); ok {
			c.enqueue(k, p)
		}
	case was != nil || !maps.Equal(old.Labels, p.Labels):
		c.enqueueAdopters(p)
	}
}

func (c *daemons) podGone(p *corev1.Pod) {
	if k, ok := c.owners.KeyOf(p); ok {
		c.expected.Deleted(k, p.UID)
		c.enqueueCounted(k, p)
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

func (c *daemons) enqueueAdopters(p *corev1.Pod) {
	for _, k := range c.owners.Adopters(p) {
		c.enqueue(k, p)
	}
}
