package deployment

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

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
	c.enqueueOwner(rs)
	if rs.DeletionTimestamp != nil {
		return
	}
	for _, k := range c.owners.Adopters(rs) {
		c.loop.EnqueueFor(k, rs)
	}
}

func (c *deployments) enqueueOwner(rs *appsv1.ReplicaSet) {
	if k, ok := c.owners.KeyOf(rs); ok {
		c.loop.EnqueueFor(k, rs)
	}
}

// recreatesOf returns the Deployment of a deleted pod if its strategy is Recreate, which waits for the last pod of
// old sets.
func (c *deployments) recreatesOf(pod *corev1.Pod) []controller.Key {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "ReplicaSet" {
		return nil
	}
	rs, ok := c.sets.Store().Get(pod.Namespace, ref.Name)
	if !ok || rs.UID != ref.UID {
		return nil
	}
	d, ok := c.owners.Of(rs)
	if !ok || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	return controller.Self(d)
}
