package lifecycle

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/stage"
)

// BuiltIn is the lifecycle of pods that stages do not override.
type BuiltIn struct {
	StartAfter time.Duration // how long a pod takes to start
	RunFor     time.Duration // how long a pod runs that ends
	NoEvents   bool          // no events are written
	AllEvents  bool          // each container has its events, not the pod's first alone
	Images     *images.Behaviors
	// Exceeds returns how long after its start a container uses more memory than a limit, as far as that can be foreseen;
	// ok is false if it never does. It may be nil.
	Exceeds func(pod *corev1.Pod, c *corev1.Container, limit resource.Quantity) (after time.Duration, ok bool)
}

// Next implements Lifecycle.
func (b *BuiltIn) Next(ctx context.Context, pod *corev1.Pod, f Facts, now time.Time) (Step, error) {
	sc := newScenario(pod, b.Images, b.StartAfter, b.RunFor)
	sc.exceeds, sc.backOff, sc.restartPeriod = b.Exceeds, f.BackOff, f.RestartPeriod
	sc.ending = f.Ending
	pulled := sc.prepareImages(pod, f.Node)
	if !IsOver(&pod.Status) && pod.DeletionTimestamp == nil && sc.ending == nil {
		var err error
		if sc.admission, err = admit(ctx, pod, f.Node); err != nil || sc.admission.Preempts {
			return Step{}, err
		}
		known := false
		if sc.errors, known = f.Node.Dependencies(ctx, pod); !known {
			return Step{}, nil
		}
	}
	to := advance(pod, sc, f.Host, f.Pod, now, f.Ends)
	step := Step{Ends: to.ends}
	toSeconds(to.status)
	probing, told, again := sc.follow(pod, to.status, f.Probing, !b.NoEvents, now)
	step.Probing, step.Actions, step.Next = probing, told, Earlier(to.next, again)
	if !codec.Equal(&pod.Status, to.status) {
		step.Status = to.status
		step.Actions = append(step.Actions, b.events(pod, to.status, pulled, f.Ending)...)
	}
	if to.remove {
		step.Actions, step.Next = append(step.Actions, stage.Action{Delete: true}), time.Time{}
	}
	return step, nil
}

// admit returns why the node rejects a new pod or a resize, if the pod waits for an answer.
func admit(ctx context.Context, pod *corev1.Pod, n Node) (admission.Result, error) {
	switch {
	case pod.Status.StartTime == nil:
		return n.Admit(ctx, pod, admission.Admit)
	case admission.WantsResize(pod, &pod.Status) && !isResizing(pod):
		return n.Admit(ctx, pod, admission.Resize)
	}
	return admission.Result{}, nil
}

// events returns the events of a step.
func (b *BuiltIn) events(pod *corev1.Pod, after *corev1.PodStatus, pulled []pull, ending *Ending) []stage.Action {
	if b.NoEvents {
		return nil
	}
	e := events{pod: pod, before: &pod.Status, after: after, all: b.AllEvents, pulls: pulled, ended: ending != nil}
	e.configErrors()
	e.pulled()
	e.failedPulls()
	e.backOff()
	e.assumption()
	e.ephemeral()
	e.resize()
	if e.before.Reason == "" && after.Reason == deadlineExceeded {
		e.add(corev1.EventTypeNormal, after.Reason, "%s", after.Message)
	} else if message, ok := strings.CutPrefix(after.Message, rejection); ok && e.before.Reason == "" {
		e.add(corev1.EventTypeWarning, after.Reason, "%s", message)
	}
	e.containers()
	return e.actions
}

// toSeconds rounds the times of a status down to seconds, as clients see them.
func toSeconds(s *corev1.PodStatus) {
	cut := func(t *metav1.Time) { t.Time = t.Truncate(time.Second) }
	if s.StartTime != nil {
		cut(s.StartTime)
	}
	for i := range s.Conditions {
		cut(&s.Conditions[i].LastTransitionTime)
		cut(&s.Conditions[i].LastProbeTime)
	}
	state := func(c *corev1.ContainerState) {
		if c.Running != nil {
			cut(&c.Running.StartedAt)
		}
		if c.Terminated != nil {
			cut(&c.Terminated.StartedAt)
			cut(&c.Terminated.FinishedAt)
		}
	}
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			state(&list[i].State)
			state(&list[i].LastTerminationState)
		}
	}
}
