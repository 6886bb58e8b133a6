package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/node/admission"
)

// transition is the result of advance.
type transition struct {
	status *corev1.PodStatus
	next   time.Time // when to look again; zero if only a change of the pod is a reason to
	ends   time.Time // when its containers exit, as far as known
	remove bool      // the pod has ended; it is removed after status is written
}

// advance returns the next status of a pod at a time. It reads only its arguments, and takes one step at a time,
// so that every state is written and seen: the status it returns, once written, is the input of the next step.
// ends is when the running containers exit, if the scenario has an end and the caller knows the time more
// precisely than the pod, which has whole seconds.
func advance(pod *corev1.Pod, s scenario, host, ip addresses.Both, now, ends time.Time) transition {
	old := &pod.Status
	st := transition{status: old.DeepCopy()}
	new := st.status
	switch {
	case IsOver(old):
		st.remove = pod.DeletionTimestamp != nil
		return st
	case pod.DeletionTimestamp != nil && !IsStarted(old):
		st.remove = true // it never ran, so its status stays
		return st
	case pod.DeletionTimestamp != nil:
		end := s.terminationEnd(pod, new)
		if now.Before(end) {
			st.next = end
			break
		}
		st.remove = true
		terminateContainers(pod, new, 0, now)
		finish(pod, new, now)
		return st
	case s.ending != nil:
		if end := s.endingAt(pod, new); now.Before(end) {
			st.next = end
		} else {
			s.ending.end(pod, new, host, now)
		}
		return st
	}

	if reason, message := admission.CheckSysctls(pod); new.StartTime == nil && (reason != "" || s.admission.Reason != "") {
		if reason == "" {
			reason, message = s.admission.Reason, s.admission.Message
		}
		new.QOSClass, new.ObservedGeneration = admission.QOSClass(pod), pod.Generation
		new.Phase, new.Reason, new.Message = corev1.PodFailed, reason, rejection+message
		return st
	}
	begin(pod, new, host, now)
	deadline := activeUntil(pod, new)
	if !deadline.IsZero() && !now.Before(deadline) {
		failPod(pod, new, deadlineExceeded, "Pod was active on the node longer than the specified deadline", now)
		return st
	}
	st = startOrProceed(pod, s, host, ip, st, now, ends)
	if !IsOver(st.status) {
		assume(pod, st.status, s, now)
		st.next = Earlier(st.next, deadline)
	}
	return st
}

// activeUntil returns when a pod exceeds its activeDeadlineSeconds; zero if never.
func activeUntil(pod *corev1.Pod, s *corev1.PodStatus) (end time.Time) {
	if d := pod.Spec.ActiveDeadlineSeconds; d != nil && s.StartTime != nil {
		end = s.StartTime.Add(time.Duration(*d) * time.Second)
	}
	return end
}

// startOrProceed starts a pod's containers, or advances running ones.
func startOrProceed(pod *corev1.Pod, s scenario, host, ip addresses.Both, st transition, now, ends time.Time) transition {
	old, new := &pod.Status, st.status
	if at := new.StartTime.Add(s.startAfter); !IsStarted(old) && (now.Before(at) || s.errors.Mounts != nil || s.errors.Claims != "") {
		new.Phase = corev1.PodPending
		create(pod, new)
		conditions(pod, new, now)
		if now.Before(at) {
			st.next = at
		}
		return st
	}
	setIP(pod, new, host, ip)
	if !IsStarted(old) || isRestarting(old) {
		failed := false
		if st.next, failed = startContainers(pod, new, s, now); failed {
			finish(pod, new, now)
			return st
		}
	} else if pod.DeletionTimestamp == nil {
		st.next = proceed(pod, new, s, now, ends)
	}
	new.Phase = runningOrPending(new)
	st.ends = st.next
	if allTerminated(new) {
		terminateContainers(pod, new, 0, now) // sidecars
		finish(pod, new, now)
		return st
	}
	if pod.DeletionTimestamp == nil {
		if IsStarted(new) {
			st.next = Earlier(st.next, ephemeral(pod, new, now))
		}
		st.next = Earlier(st.next, resize(pod, new, s, now))
	}
	st.next = Earlier(st.next, Earlier(setReadiness(pod, new, s, now), nextPull(new, now)))
	conditions(pod, new, now)
	return st
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

func allTerminated(s *corev1.PodStatus) bool {
	for i := range s.ContainerStatuses {
		if s.ContainerStatuses[i].State.Terminated == nil {
			return false
		}
	}
	return len(s.ContainerStatuses) > 0
}

// begin sets the first fields that a kubelet writes.
func begin(pod *corev1.Pod, s *corev1.PodStatus, host addresses.Both, now time.Time) {
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: now}
	}
	s.HostIPs = nil
	for _, ip := range host.Strings() {
		s.HostIPs = append(s.HostIPs, corev1.HostIP{IP: ip})
	}
	s.HostIP = s.HostIPs[0].IP
	if s.QOSClass == "" {
		s.QOSClass = admission.QOSClass(pod)
	}
	s.ObservedGeneration = pod.Generation
}

func setIP(pod *corev1.Pod, s *corev1.PodStatus, host, ip addresses.Both) {
	if pod.Spec.HostNetwork {
		ip = host
	}
	s.PodIPs = nil
	for _, ip := range ip.Strings() {
		s.PodIPs = append(s.PodIPs, corev1.PodIP{IP: ip})
	}
	s.PodIP = s.PodIPs[0].IP
}
