package scheduler

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/informer"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/queue"
)

// podGroups is the model of the pod groups. The zero value is that of a server without groups.
type podGroups struct {
	// mu is held by the loop while it changes byKey, composites and what they hold, and by other goroutines while they read them.
	mu         sync.RWMutex
	byKey      map[types.NamespacedName]*podGroup
	composites map[types.NamespacedName]*composite // nil for a server without groups of groups
	told       map[queue.GroupKey]struct{}         // the groups whose waiting pods will have an event
	writer     *groupWriter
	// trying: reservations that end now were made for a group that did not fit.
	trying bool
}

// podGroup is a group that exists, or that pods name.
type podGroup struct {
	object  *schedulingv1beta1.PodGroup // nil: it does not exist
	pods    map[types.UID]*corev1.Pod   // those that have not ended, with and without nodes
	assumed map[types.UID]string        // the nodes of those that are about to be bound
}

// modelGroups prepares the model, if the server has pod groups.
func (s *loop) modelGroups(c *client.Client) {
	if s.objects.groups == nil {
		return
	}
	s.groups.byKey = map[types.NamespacedName]*podGroup{}
	s.groups.told = map[queue.GroupKey]struct{}{}
	if s.objects.composites != nil {
		s.groups.composites = map[types.NamespacedName]*composite{}
	}
	s.groups.writer = newGroupWriter(client.For[*schedulingv1beta1.PodGroup](c))
	s.queue.GroupReady = func(key queue.GroupKey) bool { return s.groups.why(key) == "" }
	s.queue.RootOf = s.groups.rootOf
	for _, p := range s.profiles {
		p.Units = s.unitOf
	}
}

func (g *podGroups) of(key types.NamespacedName) *podGroup {
	one := g.byKey[key]
	if one == nil {
		one = &podGroup{pods: map[types.UID]*corev1.Pod{}, assumed: map[types.UID]string{}}
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
		g.mu.Lock()
		defer g.mu.Unlock()
		one := g.of(key)
		one.pods[pod.UID] = pod
		if pod.Spec.NodeName != "" {
			delete(one.assumed, pod.UID)
		}
	}
}

// assume counts a pod as about to be bound to a node, or, if that is empty, no longer.
func (g *podGroups) assume(pod *corev1.Pod, node string) {
	if g.byKey == nil {
		return
	}
	key, ok := queue.GroupOf(pod)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if one := g.byKey[key]; one == nil {
		return
	} else if node == "" {
		delete(one.assumed, pod.UID)
	} else {
		one.assumed[pod.UID] = node
	}
}

func (g *podGroups) remove(pod *corev1.Pod) {
	if g.byKey == nil {
		return
	}
	if key, ok := queue.GroupOf(pod); ok {
		g.mu.Lock()
		defer g.mu.Unlock()
		one := g.of(key)
		delete(one.pods, pod.UID)
		delete(one.assumed, pod.UID)
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
func (g *podGroups) why(key queue.GroupKey) string {
	if key.Composite {
		root := g.composites[key.NamespacedName]
		if root == nil || root.object == nil || root.object.Spec.ParentCompositePodGroupName != nil || !g.complete(key) {
			return "waiting for composite pod group \"" + key.Name + "\" tree to meet quorum"
		}
		return ""
	}
	one := g.byKey[key.NamespacedName]
	if one == nil || one.object == nil {
		return "waiting for pods's pod group \"" + key.Name + "\" to appear in scheduling queue"
	}
	if _, gap := g.ancestors(key.NamespacedName); gap != "" {
		return gap
	}
	if one.object.Spec.SchedulingPolicy.Gang != nil && len(one.pods) < one.minCount() {
		return "waiting for minCount pods from a gang to appear in scheduling queue"
	}
	return ""
}

// addGroupMember counts a pod that has a node: it may be the one that its group has waited for.
func (s *loop) addGroupMember(pod *corev1.Pod) {
	s.groups.add(pod)
	if key, ok := queue.GroupOf(pod); ok && s.groups.byKey != nil {
		s.queue.WakeGroup(s.groups.rootOf(key), "AssignedPodAdd", time.Now())
	}
}

// listenToGroups sends the events of pod groups to the loop.
func (s *loop) listenToGroups() []func() {
	if s.objects.groups == nil {
		return nil
	}
	stops := []func(){listening(s.objects, s.objects.groups, informer.Handler[*schedulingv1beta1.PodGroup]{
		Add:    func(g *schedulingv1beta1.PodGroup, _ bool) { s.send(func() { s.setGroup(g, "PodGroupAdd") }) },
		Update: func(_, g *schedulingv1beta1.PodGroup) { s.send(func() { s.setGroup(g, "PodGroupUpdate") }) },
		Delete: func(g *schedulingv1beta1.PodGroup) { s.send(func() { s.removeGroup(g) }) },
	})}
	if s.objects.composites == nil {
		return stops
	}
	return append(stops, listening(s.objects, s.objects.composites, informer.Handler[*schedulingv1alpha3.CompositePodGroup]{
		Add:    func(c *schedulingv1alpha3.CompositePodGroup, _ bool) { s.send(func() { s.setComposite(c) }) },
		Update: func(_, c *schedulingv1alpha3.CompositePodGroup) { s.send(func() { s.setComposite(c) }) },
		Delete: func(c *schedulingv1alpha3.CompositePodGroup) { s.send(func() { s.removeComposite(c) }) },
	}))
}

// setGroup stores a version of a group. Its pods are tried again if the group is new or another policy may let them fit.
func (s *loop) setGroup(g *schedulingv1beta1.PodGroup, event string) {
	key := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	before := s.groups.rootOf(key)
	old := s.groups.set(key, g)
	if old == nil || old.UID != g.UID || !apiequality.Semantic.DeepEqual(old.Spec, g.Spec) {
		s.queue.Rehome(before, time.Now())
		s.queue.WakeGroup(s.groups.rootOf(key), event, time.Now())
		s.watchHeld(s.groups.rootOf(key))
	}
}

// set makes latest the version of a group, nil if it is gone, and returns the one before.
func (g *podGroups) set(key types.NamespacedName, latest *schedulingv1beta1.PodGroup) (old *schedulingv1beta1.PodGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.of(key)
	old, one.object = one.object, latest
	if old != nil && (latest == nil || old.UID != latest.UID) {
		g.unlink(queue.GroupKey{NamespacedName: key}, old.Spec.ParentCompositePodGroupName)
	}
	if latest != nil {
		g.link(queue.GroupKey{NamespacedName: key}, latest.Spec.ParentCompositePodGroupName)
	}
	g.release(key, one)
	return old
}

// removeGroup forgets a group. Its pods without nodes wait for another one of its name.
func (s *loop) removeGroup(g *schedulingv1beta1.PodGroup) {
	key := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	root := s.groups.rootOf(key)
	s.groups.set(key, nil)
	s.groups.writer.forget(g.UID)
	s.queue.Rehome(root, time.Now())
	s.hold(queue.GroupKey{NamespacedName: key})
	s.hold(root)
}

// hold gates a group if it cannot be tried any more.
func (s *loop) hold(key queue.GroupKey) {
	if s.groups.why(key) != "" {
		if e := s.queue.HoldGroup(key); e != nil {
			s.dropQuestions(func(q *question) bool { return q.group == e })
		}
		s.watchHeld(key)
	}
}
