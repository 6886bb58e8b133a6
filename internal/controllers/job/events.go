package job

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

// jobChanged wakes a Job and, if it has ended, the loop that releases its pods.
func (c *jobs) jobChanged(j *batchv1.Job, ended bool) {
	c.loop.EnqueueFor(controller.KeyOf(j), j)
	if ended {
		c.strayPods(j)
	}
}

func (c *jobs) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		c.podChanged(p, true)
		return
	}
	if k, ok := c.owners.KeyOf(p); ok {
		c.expected.Created(k)
		c.enqueueCounted(k, p)
		return
	}
	c.podChanged(p, false)
}

func (c *jobs) podUpdated(old, p *corev1.Pod) {
	if old.ResourceVersion == p.ResourceVersion {
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(p)
	if was != nil && (is == nil || was.UID != is.UID) {
		if k, ok := c.owners.KeyOf(old); ok {
			c.released.observed(k, old.UID)
			c.enqueue(k, p)
		}
	}
	if isTracked(old) && !isTracked(p) {
		if k, ok := c.owners.KeyOf(p); ok {
			c.released.observed(k, p.UID)
		}
	}
	if is == nil && was == nil && maps.Equal(old.Labels, p.Labels) && p.DeletionTimestamp == nil {
		return
	}
	c.podChanged(p, p.DeletionTimestamp != nil)
}

func (c *jobs) podGone(p *corev1.Pod) {
	if k, ok := c.owners.KeyOf(p); ok {
		c.released.observed(k, p.UID)
	}
	c.podChanged(p, true)
}

// podChanged wakes the pod's Job, or those that may adopt it, or, if it is a stray, the loop that releases it.
func (c *jobs) podChanged(p *corev1.Pod, going bool) {
	if k, ok := c.owners.KeyOf(p); ok {
		if going {
			c.expected.Deleted(k, p.UID)
			c.enqueueCounted(k, p)
		} else {
			c.enqueue(k, p)
		}
	} else if !going {
		for _, k := range c.owners.Adopters(p) {
			c.enqueue(k, p)
		}
	}
	if isTracked(p) {
		if j, ok := c.owners.Of(p); !ok || isFinished(j) {
			c.strays.EnqueueFor(controller.KeyOf(p), p)
		}
	}
}

func (c *jobs) enqueueCounted(k controller.Key, p *corev1.Pod) {
	if c.expected.Satisfied(k) {
		c.loop.EnqueueFor(k, p)
		return
	}
	c.enqueue(k, p)
}

func (c *jobs) enqueue(k controller.Key, p *corev1.Pod) {
	c.loop.EnqueueForAfter(k, p, c.pace.Delay(k))
}
