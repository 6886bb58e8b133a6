package job

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

func (c *jobs) watch() {
	controller.WatchFunc(c.loop, c.all, informer.Handler[*batchv1.Job]{
		Add: func(j *batchv1.Job, _ bool) { c.loop.EnqueueFor(controller.KeyOf(j), j) },
		Update: func(_, j *batchv1.Job) {
			c.loop.EnqueueFor(controller.KeyOf(j), j)
			if isFinished(j) {
				c.strayPods(j)
			}
		},
		Delete: func(j *batchv1.Job) {
			c.loop.EnqueueFor(controller.KeyOf(j), j)
			c.strayPods(j)
		},
	})
	controller.WatchFunc(c.loop, c.pods.Informer, informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { c.podAdded(p) },
		Update: c.podUpdated,
		Delete: c.podGone,
	})
	// Only to wait for both informers: the loop's keys are enqueued by the handlers above.
	controller.WatchFunc(c.strays, c.all, informer.Handler[*batchv1.Job]{})
	controller.WatchFunc(c.strays, c.pods.Informer, informer.Handler[*corev1.Pod]{})
}

func (c *jobs) podAdded(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		c.podChanged(p, true)
		return
	}
	if k, ok := c.jobOf(p); ok {
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
		if k, ok := c.jobOf(old); ok {
			c.released.observed(k, old.UID)
			c.enqueue(k, p)
		}
	}
	if isTracked(old) && !isTracked(p) {
		if k, ok := c.jobOf(p); ok {
			c.released.observed(k, p.UID)
		}
	}
	if is == nil && was == nil && maps.Equal(old.Labels, p.Labels) && p.DeletionTimestamp == nil {
		return
	}
	c.podChanged(p, p.DeletionTimestamp != nil)
}

func (c *jobs) podGone(p *corev1.Pod) {
	if k, ok := c.jobOf(p); ok {
		c.released.observed(k, p.UID)
	}
	c.podChanged(p, true)
}

// podChanged wakes the pod's Job, or those that may adopt it, or, if it is a stray, the loop that releases it.
func (c *jobs) podChanged(p *corev1.Pod, going bool) {
	if k, ok := c.jobOf(p); ok {
		if going {
			c.expected.Deleted(k, p.UID)
			c.enqueueCounted(k, p)
		} else {
			c.enqueue(k, p)
		}
	} else if metav1.GetControllerOfNoCopy(p) == nil && len(p.Labels) > 0 && !going {
		for _, j := range c.all.Store().List(p.Namespace) {
			s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector)
			if err == nil && !s.Empty() && s.Matches(labels.Set(p.Labels)) {
				c.enqueue(controller.KeyOf(j), p)
			}
		}
	}
	if isTracked(p) {
		if j := c.ownerOf(p); j == nil || isFinished(j) {
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

// ownerOf returns the Job that controls the pod; nil if the controller is not a Job, or gone.
func (c *jobs) ownerOf(p *corev1.Pod) *batchv1.Job {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind != kind.Kind || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	j, ok := c.all.Store().Get(p.Namespace, ref.Name)
	if !ok || j.UID != ref.UID {
		return nil
	}
	return j
}

func (c *jobs) jobOf(p *corev1.Pod) (controller.Key, bool) {
	if j := c.ownerOf(p); j != nil {
		return controller.KeyOf(j), true
	}
	return controller.Key{}, false
}
