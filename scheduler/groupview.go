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

// Groups are the pod groups as plugins read them.
type Groups interface {
	// Object returns a pod group, nil if it does not exist; known: it exists, or pods name it.
	Object(namespace, name string) (o *schedulingv1beta1.PodGroup, known bool)
	// PodGroup returns a pod group that exists or that pods name, with its pods.
	PodGroup(namespace, name string) (v PodGroupView, ok bool)
	// HasComposites reports whether the server has groups of groups.
	HasComposites() bool
	// CompositePodGroup returns a group of groups that exists or that groups name.
	CompositePodGroup(namespace, name string) (v CompositePodGroupView, ok bool)
}

// groupView implements Groups.
type groupView struct {
	s *loop
	// trial: pods that the attempt in progress has placed are Assumed, too.
	trial bool
}

func (a attachment) Groups(f func(Groups)) {
	a.s.groups.mu.RLock()
	defer a.s.groups.mu.RUnlock()
	f(groupView{s: a.s})
}

func (a attachment) GroupsInAttempt() Groups { return groupView{a.s, true} }

func (g groupView) Object(namespace, name string) (o *schedulingv1beta1.PodGroup, known bool) {
	one := g.s.groups.byKey[types.NamespacedName{Namespace: namespace, Name: name}]
	if one == nil {
		return nil, false
	}
	return one.object, true
}

func (g groupView) PodGroup(namespace, name string) (v PodGroupView, ok bool) {
	one := g.s.groups.byKey[types.NamespacedName{Namespace: namespace, Name: name}]
	if one == nil {
		return v, false
	}
	v.Object = one.object
	for uid, pod := range one.pods {
		if latest, known := g.s.objects.pods.Store().Get(namespace, pod.Name); known && latest.UID == uid {
			pod = latest
		}
		switch node := g.node(one, pod); {
		case pod.Spec.NodeName != "":
			v.Assigned = append(v.Assigned, pod)
		case node != "":
			assumed := pod.DeepCopy()
			assumed.Spec.NodeName = node
			v.Assumed = append(v.Assumed, assumed)
		default:
			v.Unscheduled = append(v.Unscheduled, pod)
		}
	}
	return v, true
}

// node returns the node that a pod of a group is about to be bound to; empty if there is none.
func (g groupView) node(of *podGroup, pod *corev1.Pod) string {
	if g.trial {
		if on := cache.PodOn(g.s.cluster, pod.UID); on != nil && on.Nominee == nil {
			return on.NodeInfo.Name
		}
	}
	return of.assumed[pod.UID]
}

func (g groupView) HasComposites() bool { return g.s.groups.composites != nil }

func (g groupView) CompositePodGroup(namespace, name string) (v CompositePodGroupView, ok bool) {
	c := g.s.groups.composites[types.NamespacedName{Namespace: namespace, Name: name}]
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
