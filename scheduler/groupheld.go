package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/queue"
)

// heldFor is how long the pods of a group wait for it, or for further pods, before an event tells why.
const heldFor = 10 * time.Second

// watchHeld tells the pods of a group by an event why they wait, if they still do after a while. kube-scheduler only logs it.
func (s *loop) watchHeld(key queue.GroupKey) {
	if _, told := s.groups.told[key]; told || s.groups.why(key) == "" || len(s.queue.Held(key)) == 0 {
		return
	}
	s.groups.told[key] = struct{}{}
	time.AfterFunc(heldFor, func() { s.send(func() { s.tellHeld(key) }) })
}

func (s *loop) tellHeld(key queue.GroupKey) {
	delete(s.groups.told, key)
	why := s.groups.why(key)
	for _, p := range s.queue.Held(key) {
		s.profiles[p.Pod.Spec.SchedulerName].events.Act(p.Pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", why)
	}
}

// watchHeldPod is watchHeld for the group of a pod, if it has one.
func (s *loop) watchHeldPod(pod *corev1.Pod) {
	if key, ok := queue.GroupOf(pod); ok && s.groups.byKey != nil {
		s.watchHeld(s.groups.rootOf(key))
	}
}
