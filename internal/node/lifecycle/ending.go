package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/addresses"
)

// Ending is the decision of a node to end a pod that was not deleted: the pod fails once its containers have ended.
type Ending struct {
	Since           time.Time
	Grace           time.Duration // the containers have no more time, nor more than the pod's grace period
	Reason, Message string        // of the pod's status
	Target          string        // message of the condition DisruptionTarget; "" without one
}

// Preempting is the reason of a preempted pod and of its event.
const Preempting = "Preempting"

// PreemptionMessage is the message of a preempted pod and of its event.
const PreemptionMessage = "Preempted in order to admit critical pod"

// Preemption returns the ending of a pod in favor of a critical one.
func Preemption(pod *corev1.Pod, now time.Time) *Ending {
	return &Ending{
		Since: now, Grace: GracePeriod(pod), Reason: Preempting, Message: PreemptionMessage,
		Target: "Pod was preempted by Kubelet to accommodate a critical pod.",
	}
}

// GracePeriod returns the time that a pod's spec gives its containers to end.
func GracePeriod(pod *corev1.Pod) time.Duration {
	return time.Duration(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)) * time.Second
}

// endingAt returns when the containers have ended.
func (s *scenario) endingAt(pod *corev1.Pod, status *corev1.PodStatus) time.Time {
	return s.ending.Since.Add(min(s.podStopTime(pod, status), s.ending.Grace, GracePeriod(pod)))
}

// end fails the pod.
func (e *Ending) end(pod *corev1.Pod, s *corev1.PodStatus, host addresses.Both, now time.Time) {
	begin(pod, s, host, now)
	failPod(pod, s, e.Reason, e.Message, now)
	if e.Target == "" {
		return
	}
	dropCondition(s, corev1.DisruptionTarget)
	s.Conditions = append(s.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet, Message: e.Target,
		ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}
