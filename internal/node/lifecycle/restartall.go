package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/condition"
)

// restartingAll is the reason of a container that waits since all containers of its pod restart (KEP-5532).
const restartingAll = "RestartingAllContainers"

// isRestarting reports whether all containers of a pod restart, and have not all started again.
func isRestarting(s *corev1.PodStatus) bool {
	c := condition.OfPod(s, corev1.AllContainersRestarting)
	return c != nil && c.Status == corev1.ConditionTrue
}

// restartAll ends all containers of a pod, init containers and those that have ended included, since one of them has exited
// in such a way. They start anew at once, in their order.
func restartAll(pod *corev1.Pod, s *corev1.PodStatus, by *corev1.ContainerStatus, now time.Time) {
	const message = "The container is removed because RestartAllContainers in place"
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range list {
			c := &list[i]
			if c.State.Waiting != nil && c.LastTerminationState.Terminated == nil {
				continue // it has not run
			}
			end := &corev1.ContainerStateTerminated{Reason: restartingAll, Message: message, ExitCode: killed}
			if c.Name == by.Name {
				end = c.State.Terminated
			} else if c.State.Running != nil {
				end.StartedAt, end.FinishedAt, end.ContainerID = c.State.Running.StartedAt, metav1.NewTime(now), c.ContainerID
			}
			c.LastTerminationState = corev1.ContainerState{Terminated: end}
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: restartingAll, Message: message}}
			c.RestartCount++
			c.Ready, c.Started = false, ptr.To(false)
		}
	}
	setRestarting(pod, s, true, now)
}

// setRestarting sets the condition AllContainersRestarting.
func setRestarting(pod *corev1.Pod, s *corev1.PodStatus, on bool, now time.Time) {
	c := corev1.PodCondition{Type: corev1.AllContainersRestarting, Status: corev1.ConditionFalse, ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now)}
	if on {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "RestartAllContainersStarted", "container exited with restart policy rule"
	}
	if old := condition.OfPod(s, c.Type); old != nil {
		*old = c
	} else {
		s.Conditions = append(s.Conditions, c)
	}
}
