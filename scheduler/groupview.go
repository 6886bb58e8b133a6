package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
)

// A PodGroupView is a pod group as the scheduler knows it: the object, which is nil while only pods name the group, and its pods that have
// not ended.
type PodGroupView struct {
	Object *schedulingv1beta1.PodGroup
	// Unscheduled pods have no node, Assumed ones are about to be bound to the node that they name, and Assigned ones are bound.
	Unscheduled, Assumed, Assigned []*corev1.Pod
}

// A CompositePodGroupView is a group of groups as the scheduler knows it: the object, which is nil while only groups name it as their
// parent, and the names of the groups that do.
type CompositePodGroupView struct {
	Object                        *schedulingv1alpha3.CompositePodGroup
	PodGroups, CompositePodGroups []string
}

// PodGroup returns a pod group that exists or that pods name. It must be called in an attempt, or by Do. It reads all pods of the namespace.
func (a *Attachment) PodGroup(namespace, name string) (v PodGroupView, ok bool) {
	one := a.s.groups.byKey[types.NamespacedName{Namespace: namespace, Name: name}]
	if one == nil {
		return v, false
	}
	v.Object = one.object
	for _, pod := range a.s.objects.pods.Store().List(namespace) {
		if _, member := one.pods[pod.UID]; !member {
			continue
		}
		switch on := cache.PodOn(a.s.cluster, pod.UID); {
		case on == nil || on.Nominated:
			v.Unscheduled = append(v.Unscheduled, pod)
		case on.Pod.Spec.NodeName == "":
			assumed := on.Pod.DeepCopy()
			assumed.Spec.NodeName = on.NodeInfo.Name
			v.Assumed = append(v.Assumed, assumed)
		default:
			v.Assigned = append(v.Assigned, on.Pod)
		}
	}
	return v, true
}

// CompositePodGroup returns a group of groups that exists or that groups name. It must be called in an attempt, or by Do.
func (a *Attachment) CompositePodGroup(namespace, name string) (v CompositePodGroupView, ok bool) {
	c := a.s.groups.composites[types.NamespacedName{Namespace: namespace, Name: name}]
	if c == nil {
		return v, false
	}
	v.Object = c.object
	for child := range c.children {
		if child.Composite {
			v.CompositePodGroups = append(v.CompositePodGroups, child.Name)
		} else {
			v.PodGroups = append(v.PodGroups, child.Name)
		}
	}
	return v, true
}
