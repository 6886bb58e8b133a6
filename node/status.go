package node

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// step is the result of advance.
type step struct {
	status corev1.PodStatus
	next   time.Time // when to look again; zero if only a change of the pod is a reason to
	ends   time.Time // when its containers exit, as far as known
	remove bool      // the pod has ended; it is removed after status is written
}

// host is the part of a pod's status that comes from its node.
type host struct {
	ip netip.Addr
}

// advance returns the next status of a pod at a time. It reads only its arguments, and takes one step at a time,
// so that every state is written and seen: the status it returns, once written, is the input of the next step.
// ends is when the running containers exit, if the scenario has an end and the caller knows the time more
// precisely than the pod, which has whole seconds.
func advance(pod *corev1.Pod, s scenario, h host, podIP netip.Addr, now, ends time.Time) step {
	old := &pod.Status
	st := step{status: *old.DeepCopy()}
	new := &st.status
	switch {
	case isOver(pod):
		st.remove = pod.DeletionTimestamp != nil
		return st
	case pod.DeletionTimestamp != nil && !isStarted(old):
		st.remove = true // it never ran, so its status stays
		return st
	case pod.DeletionTimestamp != nil:
		end := terminationEnd(pod, s)
		if now.Before(end) {
			st.next = end
			break
		}
		st.remove = true
		terminate(pod, new, 0, now)
		finish(pod, new, now)
		return st
	case !s.evicted.IsZero():
		if end := s.evictionEnd(pod); now.Before(end) {
			st.next = end
		} else {
			endPreempted(pod, new, h, now)
		}
		return st
	}

	if reason, message := rejected(pod); new.StartTime == nil && (reason != "" || s.admission.reason != "") {
		if reason == "" {
			reason, message = s.admission.reason, s.admission.message
		}
		new.QOSClass, new.ObservedGeneration = qosClass(pod), pod.Generation
		new.Phase, new.Reason, new.Message = corev1.PodFailed, reason, rejection+message
		return st
	}
	begin(pod, new, h, now)
	deadline := activeUntil(pod, new)
	if !deadline.IsZero() && !now.Before(deadline) {
		fail(pod, new, deadlineExceeded, "Pod was active on the node longer than the specified deadline", now)
		return st
	}
	st = startOrProceed(pod, s, h, podIP, st, now, ends)
	if !isOver(&corev1.Pod{Status: st.status}) {
		assume(pod, &st.status, s, now)
		st.next = earlier(st.next, deadline)
	}
	return st
}

// fail ends a pod for a reason that its containers do not show.
func fail(pod *corev1.Pod, s *corev1.PodStatus, reason, message string, now time.Time) {
	terminate(pod, s, killed, now)
	s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, message
	conditions(pod, s, now)
}

// rejection begins the message of a rejected pod.
const rejection = "Pod was rejected: "

// deadlineExceeded is the reason of a pod that has been active for longer than activeDeadlineSeconds.
const deadlineExceeded = "DeadlineExceeded"

// activeUntil returns when a pod exceeds its activeDeadlineSeconds; zero if never.
func activeUntil(pod *corev1.Pod, s *corev1.PodStatus) (end time.Time) {
	if d := pod.Spec.ActiveDeadlineSeconds; d != nil && s.StartTime != nil {
		end = s.StartTime.Add(time.Duration(*d) * time.Second)
	}
	return end
}

// startOrProceed starts a pod's containers, or advances running ones.
func startOrProceed(pod *corev1.Pod, s scenario, h host, podIP netip.Addr, st step, now, ends time.Time) step {
	old, new := &pod.Status, &st.status
	if at := new.StartTime.Add(s.startAfter); !isStarted(old) && (now.Before(at) || s.mountErrors != nil) {
		new.Phase = corev1.PodPending
		create(pod, new)
		conditions(pod, new, now)
		if now.Before(at) {
			st.next = at
		}
		return st
	}
	setIP(pod, new, h, podIP)
	if !isStarted(old) {
		failed := false
		if st.next, failed = start(pod, new, s, now); failed {
			finish(pod, new, now)
			return st
		}
	} else if pod.DeletionTimestamp == nil {
		st.next = proceed(pod, new, s, now, ends)
	}
	new.Phase = runningOrPending(new)
	st.ends = st.next
	if allTerminated(new) {
		terminate(pod, new, 0, now) // sidecars
		finish(pod, new, now)
		return st
	}
	if isStarted(new) && pod.DeletionTimestamp == nil {
		st.next = earlier(earlier(st.next, ephemeral(pod, new, now)), resize(pod, new, s, now))
	}
	st.next = earlier(st.next, earlier(readiness(pod, new, s, now), nextPull(new, now)))
	conditions(pod, new, now)
	return st
}

// isOver reports whether a pod has succeeded or failed.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// runningOrPending returns the phase of a pod whose containers may not all have run yet.
func runningOrPending(s *corev1.PodStatus) corev1.PodPhase {
	for i := range s.ContainerStatuses {
		if c := &s.ContainerStatuses[i]; c.State.Waiting != nil && c.LastTerminationState.Terminated == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

// isStarted reports whether containers have been started.
func isStarted(s *corev1.PodStatus) bool {
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}

func allTerminated(s *corev1.PodStatus) bool {
	for i := range s.ContainerStatuses {
		if s.ContainerStatuses[i].State.Terminated == nil {
			return false
		}
	}
	return len(s.ContainerStatuses) > 0
}

// terminationEnd returns when the containers of a deleted pod have ended: after the scenario's terminateAfter, but
// not after the grace period.
func terminationEnd(pod *corev1.Pod, s scenario) time.Time {
	end := pod.DeletionTimestamp.Time
	var grace time.Duration
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	if at := end.Add(-grace).Add(s.terminateAfter); at.Before(end) {
		return at
	}
	return end
}

// evictionEnd returns when a preempted pod has ended.
func (s *scenario) evictionEnd(pod *corev1.Pod) time.Time {
	grace := time.Duration(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)) * time.Second
	return s.evicted.Add(min(s.terminateAfter, grace))
}

// begin sets the first fields that a kubelet writes.
func begin(pod *corev1.Pod, s *corev1.PodStatus, h host, now time.Time) {
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: now}
	}
	s.HostIP = h.ip.String()
	s.HostIPs = []corev1.HostIP{{IP: s.HostIP}}
	if s.QOSClass == "" {
		s.QOSClass = qosClass(pod)
	}
	s.ObservedGeneration = pod.Generation
}

func setIP(pod *corev1.Pod, s *corev1.PodStatus, h host, ip netip.Addr) {
	if pod.Spec.HostNetwork {
		ip = h.ip
	}
	s.PodIP = ip.String()
	s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
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
		if t := s.InitContainerStatuses[i].State.Terminated; t != nil && t.ExitCode != 0 && !isSidecar(&pod.Spec.InitContainers[i]) {
			s.Phase = corev1.PodFailed
		}
	}
	conditions(pod, s, now)
}
