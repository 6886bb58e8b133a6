package scheduler

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/queue"
)

// heldFor is how long the pods of a group wait for it, or for further pods, before an event tells why.
const heldFor = 10 * time.Second

// watchHeld tells the pods of a group by an event why they wait, if they still do after a while. kube-scheduler only logs it.
func (s *Scheduler) watchHeld(key types.NamespacedName) {
	one := s.groups.byKey[key]
	if one == nil || one.told || s.groups.why(key) == "" {
		return
	}
	one.told = true
	time.AfterFunc(heldFor, func() { s.send(func() { s.tellHeld(key, one) }) })
}

func (s *Scheduler) tellHeld(key types.NamespacedName, one *podGroup) {
	one.told = false
	why := s.groups.why(key)
	for _, p := range s.queue.Held(key) {
		s.profiles[p.Pod.Spec.SchedulerName].events.Act(p.Pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", why)
	}
}

// watchHeldPod is watchHeld for the group of a pod, if it has one.
func (s *Scheduler) watchHeldPod(pod *corev1.Pod) {
	if key, ok := queue.GroupOf(pod); ok && s.groups.byKey != nil {
		s.watchHeld(key)
	}
}
