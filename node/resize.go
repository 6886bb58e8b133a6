package node

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/condition"
)

// retryResize is the time between two attempts of a deferred resize.
const retryResize = 10 * time.Second

// wantsResize reports whether a running container has other resources than the pod's spec.
func wantsResize(pod *corev1.Pod, s *corev1.PodStatus) bool {
	for i := range min(len(s.ContainerStatuses), len(pod.Spec.Containers)) {
		if differs(&pod.Spec.Containers[i], &s.ContainerStatuses[i]) {
			return true
		}
	}
	return false
}

func differs(spec *corev1.Container, c *corev1.ContainerStatus) bool {
	return c.Resources != nil && c.State.Running != nil && !fastjson.Same(c.Resources, &spec.Resources)
}

// resize gives running containers the resources of the pod's spec in two writes: first that they are allocated, or
// that the resize is deferred; then that they are in effect. A container whose resizePolicy demands it is
// restarted. It returns when to look again.
func resize(pod *corev1.Pod, s *corev1.PodStatus, sc scenario, now time.Time) (next time.Time) {
	if !wantsResize(pod, s) {
		dropCondition(s, corev1.PodResizePending, corev1.PodResizeInProgress)
		return next
	}
	if !resizes(pod) {
		if sc.admission.reason != "" {
			setResize(pod, s, corev1.PodResizePending, corev1.PodReasonDeferred, sc.admission.message, now)
			return now.Add(retryResize)
		}
		for i := range s.ContainerStatuses {
			s.ContainerStatuses[i].AllocatedResources = pod.Spec.Containers[i].Resources.Requests.DeepCopy()
		}
		dropCondition(s, corev1.PodResizePending)
		setResize(pod, s, corev1.PodResizeInProgress, "", "", now)
		return now
	}
	for i := range s.ContainerStatuses {
		spec, c := &pod.Spec.Containers[i], &s.ContainerStatuses[i]
		if !differs(spec, c) {
			continue
		}
		if needsRestart(spec, c.Resources) {
			exit(pod, spec, c, killed, c.State.Running.StartedAt, now)
			last := c.State
			*c = containerStatus(pod, spec, c.RestartCount+1)
			c.LastTerminationState = last
			run(c, now)
		}
		c.Resources = spec.Resources.DeepCopy()
	}
	dropCondition(s, corev1.PodResizeInProgress)
	return next
}

// resizes reports whether the resources of the pod's spec have been allocated.
func resizes(pod *corev1.Pod) bool {
	began := condition.OfPod(&pod.Status, corev1.PodResizeInProgress)
	return began != nil && began.ObservedGeneration == pod.Generation
}

// needsRestart reports whether a change of resources restarts a container.
func needsRestart(spec *corev1.Container, old *corev1.ResourceRequirements) bool {
	for _, p := range spec.ResizePolicy {
		request, was := spec.Resources.Requests[p.ResourceName], old.Requests[p.ResourceName]
		limit, limited := spec.Resources.Limits[p.ResourceName], old.Limits[p.ResourceName]
		if p.RestartPolicy == corev1.RestartContainer && (request.Cmp(was) != 0 || limit.Cmp(limited) != 0) {
			return true
		}
	}
	return false
}

func dropCondition(s *corev1.PodStatus, types ...corev1.PodConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PodCondition) bool { return slices.Contains(types, c.Type) })
}

// setResize sets a condition of a resize.
func setResize(pod *corev1.Pod, s *corev1.PodStatus, t corev1.PodConditionType, reason, message string, now time.Time) {
	new := corev1.PodCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: pod.Generation,
		LastProbeTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}
	old := condition.OfPod(s, t)
	if old == nil {
		s.Conditions = append(s.Conditions, new)
	} else if old.Reason != reason || old.Message != message || old.ObservedGeneration != pod.Generation {
		new.LastTransitionTime = old.LastTransitionTime
		*old = new
	}
}

// recordResize writes events about the progress of a resize.
func (k *kubelet) recordResize(before, after *corev1.Pod) {
	tell := func(kind, reason, text, problem string, generation int64) {
		type allotment struct {
			Name      string                      `json:"name"`
			Resources corev1.ResourceRequirements `json:"resources"`
		}
		told := struct {
			Init       []allotment `json:"initContainers,omitempty"`
			Containers []allotment `json:"containers,omitempty"`
			Generation int64       `json:"generation"`
			Error      string      `json:"error,omitempty"`
		}{Generation: generation, Error: problem}
		for i := range after.Spec.InitContainers {
			told.Init = append(told.Init, allotment{after.Spec.InitContainers[i].Name, after.Spec.InitContainers[i].Resources})
		}
		for i := range after.Spec.Containers {
			told.Containers = append(told.Containers, allotment{after.Spec.Containers[i].Name, after.Spec.Containers[i].Resources})
		}
		if summary, err := json.Marshal(told); err == nil {
			k.recorder.Event(after, kind, reason, "%s: %s", text, summary)
		}
	}
	changed := func(t corev1.PodConditionType) (old, now *corev1.PodCondition) {
		old, now = condition.OfPod(&before.Status, t), condition.OfPod(&after.Status, t)
		if old != nil && now != nil && old.ObservedGeneration == now.ObservedGeneration {
			return nil, nil
		}
		return old, now
	}
	if _, now := changed(corev1.PodResizePending); now != nil {
		tell(corev1.EventTypeWarning, "ResizeDeferred", "Pod resize Deferred", now.Message, now.ObservedGeneration)
	}
	switch old, now := changed(corev1.PodResizeInProgress); {
	case now != nil:
		tell(corev1.EventTypeNormal, "ResizeStarted", "Pod resize started", "", now.ObservedGeneration)
	case old != nil:
		tell(corev1.EventTypeNormal, "ResizeCompleted", "Pod resize completed", "", old.ObservedGeneration)
	}
}
