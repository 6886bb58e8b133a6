package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/queue"
)

// podGroups is the model of the pod groups, owned by the loop. The zero value is that of a server without groups.
type podGroups struct {
	byKey  map[types.NamespacedName]*podGroup
	writer *groupWriter
	// trying: reservations that end now were made for a group that did not fit.
	trying bool
}

// podGroup is a group that exists, or that pods name.
type podGroup struct {
	object *schedulingv1beta1.PodGroup // nil: it does not exist
	pods   map[types.UID]struct{}      // those that have not ended, with and without nodes
	told   bool                        // its waiting pods have had an event
}

// modelGroups prepares the model, if the server has pod groups.
func (s *Scheduler) modelGroups(c *client.Client) {
	if s.objects.groups == nil {
		return
	}
	s.groups.byKey = map[types.NamespacedName]*podGroup{}
	s.groups.writer = newGroupWriter(client.For[*schedulingv1beta1.PodGroup](c))
	s.queue.GroupReady = func(key types.NamespacedName) bool { return s.groups.why(key) == "" }
	for _, p := range s.profiles {
		p.Units = s.unitOf
	}
}

func (g *podGroups) of(key types.NamespacedName) *podGroup {
	one := g.byKey[key]
	if one == nil {
		one = &podGroup{pods: map[types.UID]struct{}{}}
		g.byKey[key] = one
	}
	return one
}

// add counts a pod in its group, if it has one.
func (g *podGroups) add(pod *corev1.Pod) {
	if g.byKey == nil {
		return
	}
	if key, ok := queue.GroupOf(pod); ok {
		g.of(key).pods[pod.UID] = struct{}{}
	}
}

func (g *podGroups) remove(pod *corev1.Pod) {
	if g.byKey == nil {
		return
	}
	if key, ok := queue.GroupOf(pod); ok {
		one := g.of(key)
		delete(one.pods, pod.UID)
		g.release(key, one)
	}
}

// release drops a group that does not exist and that no pod names.
func (g *podGroups) release(key types.NamespacedName, one *podGroup) {
	if one.object == nil && len(one.pods) == 0 {
		delete(g.byKey, key)
	}
}

// object returns a group that exists.
func (g *podGroups) object(namespace, name string) (*schedulingv1beta1.PodGroup, bool) {
	one := g.byKey[types.NamespacedName{Namespace: namespace, Name: name}]
	if one == nil || one.object == nil {
		return nil, false
	}
	return one.object, true
}

// minCount returns how many pods of the group have to be placed together.
func (g *podGroup) minCount() int {
	if gang := g.object.Spec.SchedulingPolicy.Gang; gang != nil {
		return int(gang.MinCount)
	}
	return 1
}

// priority returns the priority of the group.
func (g *podGroup) priority() int32 {
	if p := g.object.Spec.Priority; p != nil {
		return *p
	}
	return 0
}

// scheduled returns the pods of the group that have nodes or are assumed on them.
func (g *podGroup) scheduled(c *cache.Cluster) (on []*cache.PodInfo) {
	for uid := range g.pods {
		if p := cache.PodOn(c, uid); p != nil {
			on = append(on, p)
		}
	}
	return on
}

// why returns why a group cannot be tried, in kube-scheduler's words; "" if it can.
func (g *podGroups) why(key types.NamespacedName) string {
	one := g.byKey[key]
	switch {
	case one == nil || one.object == nil:
		return "waiting for pods's pod group \"" + key.Name + "\" to appear in scheduling queue"
	case one.object.Spec.SchedulingPolicy.Gang != nil && len(one.pods) < one.minCount():
		return "waiting for minCount pods from a gang to appear in scheduling queue"
	}
	return ""
}

// addGroupMember counts a pod that has a node: it may be the one that its group has waited for.
func (s *Scheduler) addGroupMember(pod *corev1.Pod) {
	s.groups.add(pod)
	if key, ok := queue.GroupOf(pod); ok && s.groups.byKey != nil {
		s.queue.WakeGroup(key, "AssignedPodAdd", time.Now())
	}
}

// listenToGroups sends the events of pod groups to the loop.
func (s *Scheduler) listenToGroups() []func() {
	if s.objects.groups == nil {
		return nil
	}
	return []func(){listening(s.objects, s.objects.groups, informer.Handler[*schedulingv1beta1.PodGroup]{
		Add:    func(g *schedulingv1beta1.PodGroup, _ bool) { s.send(func() { s.setGroup(g, "PodGroupAdd") }) },
		Update: func(_, g *schedulingv1beta1.PodGroup) { s.send(func() { s.setGroup(g, "PodGroupUpdate") }) },
		Delete: func(g *schedulingv1beta1.PodGroup) { s.send(func() { s.removeGroup(g) }) },
	})}
}

// setGroup stores a version of a group. Its pods are tried again if the group is new or another policy may let them fit.
func (s *Scheduler) setGroup(g *schedulingv1beta1.PodGroup, event string) {
	key := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	one := s.groups.of(key)
	old := one.object
	one.object = g
	if old == nil || old.UID != g.UID || !apiequality.Semantic.DeepEqual(old.Spec, g.Spec) {
		s.queue.WakeGroup(key, event, time.Now())
	}
}

// removeGroup forgets a group. Its pods without nodes wait for another one of its name.
func (s *Scheduler) removeGroup(g *schedulingv1beta1.PodGroup) {
	key := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	one := s.groups.of(key)
	one.object = nil
	s.groups.writer.forget(g.UID)
	s.groups.release(key, one)
	s.queue.HoldGroup(key)
	s.watchHeld(key)
}
