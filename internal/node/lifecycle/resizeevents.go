package lifecycle

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/condition"
)

// resize adds events about the progress of a resize.
func (e *events) resize() {
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
		for i := range e.pod.Spec.InitContainers {
			told.Init = append(told.Init, allotment{e.pod.Spec.InitContainers[i].Name, e.pod.Spec.InitContainers[i].Resources})
		}
		for i := range e.pod.Spec.Containers {
			told.Containers = append(told.Containers, allotment{e.pod.Spec.Containers[i].Name, e.pod.Spec.Containers[i].Resources})
		}
		if summary, err := json.Marshal(told); err == nil {
			e.add(kind, reason, "%s: %s", text, summary)
		}
	}
	changed := func(t corev1.PodConditionType) (old, now *corev1.PodCondition) {
		old, now = condition.OfPod(e.before, t), condition.OfPod(e.after, t)
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
