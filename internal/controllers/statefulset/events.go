package statefulset

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

func (c *sets) podUpdated(old, p *corev1.Pod) {
	if old.ResourceVersion == p.ResourceVersion {
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(p)
	if was != nil && (is == nil || was.UID != is.UID) {
		if k, ok := c.owners.KeyOf(old); ok {
			c.loop.EnqueueFor(k, p)
		}
	}
	c.podChanged(p, was != nil || !maps.Equal(old.Labels, p.Labels))
}

func (c *sets) podGone(p *corev1.Pod) {
	if k, ok := c.owners.KeyOf(p); ok {
		c.written.Gone(k, p.UID)
		c.loop.EnqueueFor(k, p)
	}
}

// podChanged wakes the set that owns the pod or, for an orphan that may have changed, those that might adopt it.
func (c *sets) podChanged(p *corev1.Pod, news bool) {
	if k, ok := c.owners.KeyOf(p); ok {
		c.loop.EnqueueFor(k, p)
		return
	}
	if !news || p.DeletionTimestamp != nil {
		return
	}
	for _, k := range c.owners.Adopters(p) {
		c.loop.EnqueueFor(k, p)
	}
}

// setsOfClaim returns the set whose pod waits for the deletion of an earlier pod's claim.
func (c *sets) setsOfClaim(claim *corev1.PersistentVolumeClaim) (keys []controller.Key) {
	for _, set := range c.all.Store().List(claim.Namespace) {
		if ownsClaim(set, claim.Name) {
			keys = append(keys, controller.KeyOf(set))
		}
	}
	return keys
}
