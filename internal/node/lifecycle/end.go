package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
)

// failPod ends a pod for a reason that its containers do not show.
func failPod(pod *corev1.Pod, s *corev1.PodStatus, reason, message string, now time.Time) {
	terminateContainers(pod, s, killed, now)
	s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, message
	conditions(pod, s, now)
}

// rejection begins the message of a rejected pod.
const rejection = "Pod was rejected: "

// deadlineExceeded is the reason of a pod that has been active for longer than activeDeadlineSeconds.
const deadlineExceeded = "DeadlineExceeded"

// terminationEnd returns when the containers of a deleted pod have ended: after their preStop hooks and
// the scenario's terminateAfter, but not after the grace period.
func (s *scenario) terminationEnd(pod *corev1.Pod, status *corev1.PodStatus) time.Time {
	var grace time.Duration
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	return pod.DeletionTimestamp.Add(min(s.podStopTime(pod, status), grace) - grace)
}

// finish sets the final phase of a pod whose containers have all ended.
func finish(pod *corev1.Pod, s *corev1.PodStatus, now time.Time) {
	s.ObservedGeneration = pod.Generation
	s.Phase = corev1.PodSucceeded
	for i := range s.ContainerStatuses {
		if t := s.ContainerStatuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
			s.Phase = corev1.PodFailed
		}
	}
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		if t := s.InitContainerStatuses[i].State.Terminated; t != nil && t.ExitCode != 0 && !admission.IsSidecar(&pod.Spec.InitContainers[i]) {
			s.Phase = corev1.PodFailed
		}
	}
	conditions(pod, s, now)
}
