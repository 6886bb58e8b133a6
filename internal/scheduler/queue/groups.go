package queue

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// A GroupKey names an entity that is scheduled as one: a pod group, or the group of groups at the root of a hierarchy.
type GroupKey struct {
	types.NamespacedName
	Composite bool
}

// A Group is a pod group, or a hierarchy of groups, in the queue: its pods without a node, which are in the queue's places as
// one, with one backoff. It is gated until GroupReady, and as long as one of its members is. A member that comes while the group
// is unschedulable makes it to be tried again.
type Group struct {
	Key       types.NamespacedName
	composite bool
	// Members are in the order in which they came.
	Members []*QueuedPodInfo
}

// Composite reports whether it is a hierarchy of groups.
func (g *Group) Composite() bool { return g.composite }

// KeyOf returns the key of a group.
func KeyOf(g *Group) GroupKey { return GroupKey{g.Key, g.composite} }

// groupOf returns the key of the group that a pod is scheduled with; false if it is scheduled by itself.
func (q *Queue) groupOf(p *cache.PodInfo) (key GroupKey, ok bool) {
	if q.GroupReady == nil {
		return key, false
	}
	group, ok := GroupOf(p.Pod)
	if ok {
		key = q.RootOf(group)
	}
	return key, ok
}

// GroupOf returns the namespace and name of a pod's group; false if it has none.
func GroupOf(pod *corev1.Pod) (key types.NamespacedName, ok bool) {
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return types.NamespacedName{Namespace: pod.Namespace, Name: *g.PodGroupName}, true
	}
	return key, false
}

// newGroup returns an empty group. Its PodInfo has the priority and the scheduler of the first member.
func newGroup(key GroupKey, first *QueuedPodInfo) *QueuedPodInfo {
	kind := "group "
	if key.Composite {
		kind = "composite group "
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(kind + key.String())}}
	pod.Spec.SchedulerName = first.PodInfo.Pod.Spec.SchedulerName
	return &QueuedPodInfo{Group: &Group{Key: key.NamespacedName, composite: key.Composite}, since: first.since, PodInfo: &cache.PodInfo{Pod: pod, Priority: first.PodInfo.Priority}}
}

// add makes a pod the last member.
func (w *QueuedPodInfo) add(m *QueuedPodInfo) {
	m.of = w
	w.Group.Members = append(w.Group.Members, m)
	if w.heap != nil {
		w.heap.size++
	}
}

// size returns the number of pods.
func (w *QueuedPodInfo) size() int {
	if w.Group != nil {
		return len(w.Group.Members)
	}
	return 1
}

// members returns the members of a group; nil for a pod.
func (w *QueuedPodInfo) members() []*QueuedPodInfo {
	if w.Group != nil {
		return w.Group.Members
	}
	return nil
}

// entity returns what moves in the queue: the group of a member, or w.
func (w *QueuedPodInfo) entity() *QueuedPodInfo {
	if w.of != nil {
		return w.of
	}
	return w
}

// hinted reports whether an event may make w fit, according to a filter. Any member of a group may fit elsewhere now, and so
// make room for others.
func (w *QueuedPodInfo) hinted(f framework.Filter, e *framework.ClusterEvent) bool {
	return w.any(func(p *cache.PodInfo) bool { return f.QueueingHint(p, e) })
}

// any reports whether something is true of w, or of a member of a group.
func (w *QueuedPodInfo) any(is func(*cache.PodInfo) bool) bool {
	if w.Group == nil {
		return is(w.PodInfo)
	}
	return slices.ContainsFunc(w.Group.Members, func(m *QueuedPodInfo) bool { return is(m.PodInfo) })
}

func (w *QueuedPodInfo) nominatedTo(node string) bool {
	return w.NominatedNode == node || slices.ContainsFunc(w.members(), func(m *QueuedPodInfo) bool { return m.NominatedNode == node })
}

// held reports whether w is to be gated.
func (q *Queue) held(w *QueuedPodInfo) bool {
	if w.Group != nil {
		return !q.GroupReady(KeyOf(w.Group)) || slices.ContainsFunc(w.Group.Members, q.held)
	}
	return q.gated(w)
}

// join adds a pod to its group.
func (q *Queue) join(m *QueuedPodInfo, key GroupKey, now time.Time) {
	e := q.groups[key]
	if e == nil {
		e = newGroup(key, m)
		q.groups[key] = e
	}
	e.add(m)
	q.members++
	q.awake(e, podAdded, now)
}

// rejoin adds a pod, whose binding failed, to its group. It returns the group if that is new and has to wait.
func (q *Queue) rejoin(m *QueuedPodInfo, key GroupKey, now time.Time) *QueuedPodInfo {
	q.pods[m.PodInfo.Pod.UID] = m
	if q.groups[key] != nil {
		q.join(m, key, now)
		return nil
	}
	e := newGroup(key, m)
	e.Attempts, e.First = m.Attempts, m.First
	q.groups[key] = e
	e.add(m)
	q.members++
	return e
}

// leave takes a pod out of its group. A group goes with its last member.
func (q *Queue) leave(m *QueuedPodInfo) {
	e := m.of
	m.of = nil
	q.members--
	e.Group.Members = slices.DeleteFunc(e.Group.Members, func(o *QueuedPodInfo) bool { return o == m })
	if e.heap != nil {
		e.heap.size--
	}
	if len(e.Group.Members) == 0 {
		delete(q.groups, KeyOf(e.Group))
		delete(q.watched, e)
		q.remove(e)
	}
}

// remove takes w out of its place.
func (q *Queue) remove(w *QueuedPodInfo) {
	if w.heap == &q.unschedulable {
		q.removeUnschedulable(w)
	} else if w.heap != nil {
		heap.Remove(w.heap, w.index)
	}
}

// takeMembers takes the members of a group that is to be tried out of the queue.
func (q *Queue) takeMembers(e *QueuedPodInfo, now time.Time) {
	delete(q.groups, KeyOf(e.Group))
	q.members -= len(e.Group.Members)
	for _, m := range e.Group.Members {
		delete(q.pods, m.PodInfo.Pod.UID)
		m.of = nil
		m.tried(now)
	}
}

// restore makes w known again, with the members that a group still has; false if it has none.
func (q *Queue) restore(w *QueuedPodInfo) bool {
	if w.Group == nil {
		q.pods[w.PodInfo.Pod.UID] = w
		return true
	}
	if len(w.Group.Members) == 0 {
		return false
	}
	q.groups[KeyOf(w.Group)] = w
	q.members += len(w.Group.Members)
	for _, m := range w.Group.Members {
		q.pods[m.PodInfo.Pod.UID] = m
		m.of = w
	}
	return true
}

// WakeGroup tries a gated or unschedulable group again, because of an event.
func (q *Queue) WakeGroup(key GroupKey, event string, now time.Time) {
	if e := q.groups[key]; e != nil {
		q.awake(e, event, now)
	}
}

// Rehome moves the members of a group that are scheduled with another one now.
func (q *Queue) Rehome(key GroupKey, now time.Time) {
	e := q.groups[key]
	if e == nil {
		return
	}
	for _, m := range slices.Clone(e.Group.Members) {
		if to, _ := q.groupOf(m.PodInfo); to != key {
			q.unindex(m)
			q.leave(m)
			q.join(m, to, now)
		}
	}
}

// HoldGroup gates a group that is no longer ready, and returns it; nil if it is not in the queue.
func (q *Queue) HoldGroup(key GroupKey) *QueuedPodInfo {
	e := q.groups[key]
	if e != nil && e.heap != nil {
		q.remove(e)
		q.index(e)
	}
	return e
}

// Park keeps a group until Unpark goes on with its attempt. Meanwhile members come and go, but none of them makes it to be tried. From
// the first time in an attempt that it is parked, events for the filters that may reject it count: see Unwatch.
func (q *Queue) Park(e *QueuedPodInfo, by []framework.Filter) {
	if !q.restore(e) {
		return
	}
	for _, w := range append([]*QueuedPodInfo{e}, e.Group.Members...) {
		w.resumes = true
	}
	if _, watched := q.watched[e]; !watched {
		q.Watch(e, by)
	}
	q.parked.push(e)
}

// Unpark goes on with the attempt for a group, if it is parked.
func (q *Queue) Unpark(e *QueuedPodInfo) {
	if e.heap == &q.parked {
		heap.Remove(&q.parked, e.index)
		q.active.push(e)
	}
}

// Held returns the members of a group that is gated because it is not ready.
func (q *Queue) Held(key GroupKey) (pods []*cache.PodInfo) {
	if e := q.groups[key]; e != nil && e.heap == nil && !q.GroupReady(key) {
		for _, m := range e.Group.Members {
			pods = append(pods, m.PodInfo)
		}
	}
	return pods
}
