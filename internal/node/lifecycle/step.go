package lifecycle

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/addresses"
	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/dependencies"
	"fairlead.dev/internal/node/stage"
)

// Lifecycle decides the next step of a pod.
type Lifecycle interface {
	Next(ctx context.Context, pod *corev1.Pod, f Facts, now time.Time) (Step, error)
}

// Facts are what a node knows of a pod beside the object itself.
type Facts struct {
	Host, Pod     addresses.Both // the addresses of the node and of the pod
	Ends          time.Time      // when its containers exit, more precisely than the whole seconds of the status; zero if not known
	Ending        *Ending        // nil unless the node ends the pod
	Choice        *stage.Choice  // the stage chosen for the pod
	BackOff       *BackOff       // of its containers; may be nil
	Probing       *Probing       // of the latest Step that had one; nil if the kubelet has just started
	RestartPeriod time.Duration  // the longest back-off; 0 for five minutes
	Node          Node
}

// Node is the node of a pod. A lifecycle asks it only if the next step depends on the answer.
type Node interface {
	// Admit decides whether the node takes a pod or grants its resize. It may preempt others.
	Admit(ctx context.Context, pod *corev1.Pod, why admission.Attempt) (admission.Result, error)
	// HasImage reports whether the node has pulled an image.
	HasImage(name string) bool
	// Dependencies returns the errors of the objects that the pod uses. known is false until all of these have
	// been read; the node then looks at the pod again.
	Dependencies(ctx context.Context, pod *corev1.Pod) (errors dependencies.Errors, known bool)
}

// Step is a change of a pod. The zero value is the step of a pod that waits.
type Step struct {
	Status  *corev1.PodStatus // replaces the pod's status, before the actions; nil if it stays
	Actions []stage.Action    // in their order
	Ends    time.Time         // the next Facts.Ends, once the status is written
	Probing *Probing          // the next Facts.Probing, once the step has been carried out; nil if it stays
	Next    time.Time         // when to look again; zero if only a change of the pod is a reason to
	Played  *stage.Choice     // is done once the step has been carried out; nil if it is no stage's
}

// Earlier returns the earlier of two times; zero is no time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// IsOver reports whether a pod has succeeded or failed.
func IsOver(s *corev1.PodStatus) bool {
	return s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed
}

// IsStarted reports whether containers have been started.
func IsStarted(s *corev1.PodStatus) bool {
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}
