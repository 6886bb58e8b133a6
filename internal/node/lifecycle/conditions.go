package lifecycle

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/admission"
)

// conditions derives the pod's conditions from its containers. Conditions that others own stay.
func conditions(pod *corev1.Pod, s *corev1.PodStatus, now time.Time) {
	set := func(t corev1.PodConditionType, ok bool, reason, message string) {
		c := corev1.PodCondition{
			Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now),
		}
		if ok {
			c.Status = corev1.ConditionTrue
		}
		for i := range s.Conditions {
			if old := &s.Conditions[i]; old.Type == t {
				if old.Status == c.Status {
					c.LastTransitionTime = old.LastTransitionTime
				}
				c.LastProbeTime = old.LastProbeTime
				*old = c
				return
			}
		}
		s.Conditions = append(s.Conditions, c)
	}
	created := s.PodIP != ""
	ended := s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed
	set(corev1.PodReadyToStartContainers, created && !ended, "", "")
	switch {
	case s.Phase == corev1.PodSucceeded:
		set(corev1.PodInitialized, true, "PodCompleted", "")
	case !(IsStarted(s) && !isRestarting(s)) && incomplete(pod, s) != nil:
		set(corev1.PodInitialized, false, "ContainersNotInitialized",
			"containers with incomplete status: ["+strings.Join(incomplete(pod, s), " ")+"]")
	default:
		set(corev1.PodInitialized, true, "", "")
	}
	reason, message := unready(pod, s)
	ready, readyReason, readyMessage := reason == "", reason, message
	if ready {
		if readyMessage = closedGates(pod, s); readyMessage != "" {
			ready, readyReason = false, "ReadinessGatesNotReady"
		}
	}
	set(corev1.PodReady, ready, readyReason, readyMessage)
	set(corev1.ContainersReady, reason == "", reason, message)
	set(corev1.PodScheduled, true, "", "")
}

// unready returns why the containers are not all ready; the reason is empty if they are.
func unready(pod *corev1.Pod, s *corev1.PodStatus) (reason, message string) {
	switch s.Phase {
	case corev1.PodSucceeded:
		return "PodCompleted", ""
	case corev1.PodFailed:
		return "PodFailed", ""
	}
	var names []string
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		c := &s.InitContainerStatuses[i]
		if !c.Ready && (c.State.Running != nil || admission.IsSidecar(&pod.Spec.InitContainers[i]) && IsStarted(s)) {
			names = append(names, c.Name)
		}
	}
	for i := range s.ContainerStatuses {
		if c := &s.ContainerStatuses[i]; !c.Ready {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return "", ""
	}
	return "ContainersNotReady", "containers with unready status: [" + strings.Join(names, " ") + "]"
}

// closedGates returns a message that names the readiness gates whose condition is not True.
func closedGates(pod *corev1.Pod, s *corev1.PodStatus) string {
	var messages []string
	for _, gate := range pod.Spec.ReadinessGates {
		message := fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType)
		for _, c := range s.Conditions {
			if c.Type != gate.ConditionType {
				continue
			}
			message = ""
			if c.Status != corev1.ConditionTrue {
				message = fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType, c.Status)
			}
		}
		if message != "" {
			messages = append(messages, message)
		}
	}
	return strings.Join(messages, ", ")
}

// incomplete names the init containers that have not completed, or have not started if they are sidecars.
func incomplete(pod *corev1.Pod, s *corev1.PodStatus) (names []string) {
	for i := range pod.Spec.InitContainers {
		if i >= len(s.InitContainerStatuses) || !isInitialized(&pod.Spec.InitContainers[i], &s.InitContainerStatuses[i]) {
			names = append(names, pod.Spec.InitContainers[i].Name)
		}
	}
	return names
}
