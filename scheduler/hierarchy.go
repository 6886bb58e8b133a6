package scheduler

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/queue"
)

// A hierarchy is the object of an attempt: a pod group with its members, or a group of groups with those in it.
type hierarchy struct {
	leaf      *podGroup
	members   []*queue.QueuedPodInfo // of the leaf
	composite *composite
	children  []*hierarchy // of the composite, the oldest first
}

// hierarchyOf returns the hierarchy of a group that has been taken from the queue.
func (g *podGroups) hierarchyOf(e *queue.Group) *hierarchy {
	key := queue.KeyOf(e)
	if !key.Composite {
		return &hierarchy{leaf: g.byKey[key.NamespacedName], members: e.Members}
	}
	members := map[*podGroup][]*queue.QueuedPodInfo{}
	for _, m := range e.Members {
		if key, ok := queue.GroupOf(m.PodInfo.Pod); ok {
			members[g.byKey[key]] = append(members[g.byKey[key]], m)
		}
	}
	return g.hierarchyFrom(key, members)
}

func (g *podGroups) hierarchyFrom(key queue.GroupKey, members map[*podGroup][]*queue.QueuedPodInfo) *hierarchy {
	if !key.Composite {
		leaf := g.byKey[key.NamespacedName]
		return &hierarchy{leaf: leaf, members: members[leaf]}
	}
	h := &hierarchy{composite: g.composites[key.NamespacedName]}
	for child := range h.composite.children {
		h.children = append(h.children, g.hierarchyFrom(child, members))
	}
	slices.SortFunc(h.children, func(a, b *hierarchy) int {
		at, bt := a.object().GetCreationTimestamp(), b.object().GetCreationTimestamp()
		return cmp.Or(at.Compare(bt.Time), cmp.Compare(a.object().GetName(), b.object().GetName()))
	})
	return h
}

func (h *hierarchy) object() client.Object {
	if h.leaf != nil {
		return h.leaf.object
	}
	return h.composite.object
}

// kind is the word of events for it.
func (h *hierarchy) kind() string {
	if h.leaf != nil {
		return "podgroup"
	}
	return "compositepodgroup"
}

// leaves calls yield for the pod groups, each of which is a hierarchy.
func (h *hierarchy) leaves(yield func(*hierarchy) bool) {
	h.walk(yield)
}

func (h *hierarchy) walk(yield func(*hierarchy) bool) bool {
	if h.leaf != nil {
		return yield(h)
	}
	for _, child := range h.children {
		if !child.walk(yield) {
			return false
		}
	}
	return true
}

// scheduled returns the pods that have nodes or are assumed on them.
func (h *hierarchy) scheduled(c *cache.Cluster) (on []*cache.PodInfo) {
	for one := range h.leaves {
		on = append(on, one.leaf.scheduled(c)...)
	}
	return on
}

func (h *hierarchy) minCount() int {
	if h.leaf != nil {
		return h.leaf.minCount()
	}
	return h.composite.minCount()
}

func (h *hierarchy) priority() int32 {
	if h.leaf != nil {
		return h.leaf.priority()
	}
	return h.composite.priority()
}

// preemption returns the preemption policy of the group at the root; nil if it has none.
func (h *hierarchy) preemption() *corev1.PreemptionPolicy {
	if h.leaf != nil {
		return (*corev1.PreemptionPolicy)(h.leaf.object.Spec.PreemptionPolicy)
	}
	return (*corev1.PreemptionPolicy)(h.composite.object.Spec.PreemptionPolicy)
}

// topologyKey returns the label whose value all nodes must share; "" without a constraint.
func (h *hierarchy) topologyKey() string {
	if h.leaf != nil {
		return h.leaf.topologyKey()
	}
	if c := h.composite.object.Spec.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		return c.Topology[0].Key // the API allows one
	}
	return ""
}

// setConditions reports an attempt that did not succeed to the pod groups.
func (s *loop) setConditions(h *hierarchy, reason string, message func(*podGroup) string) {
	for one := range h.leaves {
		s.groups.writer.set(one.leaf.object, metav1.ConditionFalse, reason, message(one.leaf))
	}
}

// setOutcomes reports the pod groups that could not be placed although the hierarchy could, and the others as scheduled.
func (s *loop) setOutcomes(h *hierarchy, t *trial) {
	for one := range h.leaves {
		if why, rejected := t.whys[one.leaf]; rejected {
			s.groups.writer.set(one.leaf.object, metav1.ConditionFalse, schedulingv1beta1.PodGroupReasonUnschedulable, why)
		} else {
			s.groups.writer.set(one.leaf.object, metav1.ConditionTrue, "Scheduled", "")
		}
	}
}
