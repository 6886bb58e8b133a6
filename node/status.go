package node

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// step is what a pod comes to at some moment.
type step struct {
	status corev1.PodStatus
	next   time.Time // when to look again; zero: when the pod changes
	ends   time.Time // when its containers exit, as far as it is known here
	remove bool      // the pod has ended and is to be removed, after status is written
}

// host is what a pod's status tells of its node.
type host struct {
	ip netip.Addr
}

// advance says what becomes of a pod at a moment. It reads nothing but its arguments, and
// takes one step at a time, so that every state is written and seen: what it returns, once
// written, is what the next step begins with. ends is when the containers that run now
// exit, if the script has an end and the caller knows the moment better than the pod
// does, which has whole seconds.
func advance(pod *corev1.Pod, s script, h host, podIP netip.Addr, now, ends time.Time) step {
	old := &pod.Status
	st := step{status: *old.DeepCopy()}
	new := &st.status
	switch {
	case isOver(pod):
		st.remove = pod.DeletionTimestamp != nil
		return st
	case pod.DeletionTimestamp != nil && !isStarted(old):
		st.remove = true // never ran: nothing to tell
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
			makeWay(pod, new, h, now)
		}
		return st
	}

	if reason, message := rejected(pod); new.StartTime == nil && (reason != "" || s.refusal.reason != "") {
		if reason == "" {
			reason, message = s.refusal.reason, s.refusal.message
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
	st = awaken(pod, s, h, podIP, st, now, ends)
	if !isOver(&corev1.Pod{Status: st.status}) {
		assume(pod, &st.status, s, now)
		st.next = sooner(st.next, deadline)
	}
	return st
}

// fail ends a pod for a reason that is not in its containers.
func fail(pod *corev1.Pod, s *corev1.PodStatus, reason, message string, now time.Time) {
	terminate(pod, s, killed, now)
	s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, message
	conditions(pod, s, now)
}

// rejection is what the message of a pod begins with that the node has not taken.
const rejection = "Pod was rejected: "

// deadlineExceeded is the reason of a pod that has been active for too long.
const deadlineExceeded = "DeadlineExceeded"

// activeUntil is when a pod has been active for as long as it may; zero if that is for ever.
func activeUntil(pod *corev1.Pod, s *corev1.PodStatus) (end time.Time) {
	if d := pod.Spec.ActiveDeadlineSeconds; d != nil && s.StartTime != nil {
		end = s.StartTime.Add(time.Duration(*d) * time.Second)
	}
	return end
}

// awaken starts a pod's containers, or brings them on.
func awaken(pod *corev1.Pod, s script, h host, podIP netip.Addr, st step, now, ends time.Time) step {
	old, new := &pod.Status, &st.status
	if at := new.StartTime.Add(s.startAfter); !isStarted(old) && (now.Before(at) || s.unmounted != nil) {
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
		st.next = sooner(sooner(st.next, ephemeral(pod, new, now)), resize(pod, new, s, now))
	}
	st.next = sooner(st.next, sooner(readiness(pod, new, s, now), pullsAgain(new, now)))
	conditions(pod, new, now)
	return st
}

// isOver says whether a pod has come to its end.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// runningOrPending is the phase of a pod of which a container may never have run.
func runningOrPending(s *corev1.PodStatus) corev1.PodPhase {
	for i := range s.ContainerStatuses {
		if c := &s.ContainerStatuses[i]; c.State.Waiting != nil && c.LastTerminationState.Terminated == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

// isStarted says whether containers have been started.
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

// terminationEnd is when a pod that is being deleted has ended: after what the script
// says, but not past its grace period.
func terminationEnd(pod *corev1.Pod, s script) time.Time {
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

// evictionEnd is when a pod that makes way has ended.
func (s *script) evictionEnd(pod *corev1.Pod) time.Time {
	grace := time.Duration(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)) * time.Second
	return s.evicted.Add(min(s.terminateAfter, grace))
}

// begin fills in what a kubelet tells first.
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

// finish gives a pod whose containers have all ended its last phase.
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
