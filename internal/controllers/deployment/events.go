package deployment

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

func (c *deployments) watch() {
	controller.Watch(c.loop, c.all.Informer, controller.Self[*appsv1.Deployment])
	controller.WatchFunc(c.loop, c.sets.Informer, informer.Handler[*appsv1.ReplicaSet]{
		Add:    func(rs *appsv1.ReplicaSet, _ bool) { c.setSeen(rs) },
		Update: c.setUpdated,
		Delete: func(rs *appsv1.ReplicaSet) { c.enqueueOwner(rs) },
	})
	controller.WatchFunc(c.loop, c.pods.Informer, informer.Handler[*corev1.Pod]{Delete: c.podGone})
}

func (c *deployments) setUpdated(old, rs *appsv1.ReplicaSet) {
	if old.ResourceVersion == rs.ResourceVersion {
		return
	}
	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(rs)
	moved := (was == nil) != (is == nil) || (was != nil && was.UID != is.UID)
	if moved {
		c.enqueueOwner(old)
	}
	if is != nil || moved || !maps.Equal(old.Labels, rs.Labels) {
		c.setSeen(rs)
	}
}

// setSeen wakes the set's Deployment, or those that may adopt it.
func (c *deployments) setSeen(rs *appsv1.ReplicaSet) {
	if metav1.GetControllerOfNoCopy(rs) != nil {
		c.enqueueOwner(rs)
		return
	}
	if len(rs.Labels) == 0 || rs.DeletionTimestamp != nil {
		return
	}
	for _, d := range c.all.Store().List(rs.Namespace) {
		s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err == nil && !s.Empty() && s.Matches(labels.Set(rs.Labels)) {
			c.loop.EnqueueFor(controller.Key{Namespace: d.Namespace, Name: d.Name}, rs)
		}
	}
}

func (c *deployments) enqueueOwner(rs *appsv1.ReplicaSet) {
	if d := c.ownerOf(rs); d != nil {
		c.loop.EnqueueFor(controller.Key{Namespace: d.Namespace, Name: d.Name}, rs)
	}
}

func (c *deployments) ownerOf(rs *appsv1.ReplicaSet) *appsv1.Deployment {
	ref := metav1.GetControllerOfNoCopy(rs)
	if ref == nil || ref.Kind != kind.Kind {
		return nil
	}
	d, ok := c.all.Store().Get(rs.Namespace, ref.Name)
	if !ok || d.UID != ref.UID {
		return nil
	}
	return d
}

// podGone matters only to Recreate, which waits for the last pod of old sets.
func (c *deployments) podGone(pod *corev1.Pod) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "ReplicaSet" {
		return
	}
	rs, ok := c.sets.Store().Get(pod.Namespace, ref.Name)
	if !ok || rs.UID != ref.UID {
		return
	}
	if d := c.ownerOf(rs); d != nil && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		c.loop.EnqueueFor(controller.Key{Namespace: d.Namespace, Name: d.Name}, pod)
	}
}
