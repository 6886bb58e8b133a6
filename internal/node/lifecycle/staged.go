package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/stage"
)

// Staged is a lifecycle that stages override. A due stage is the next step of the pod that it selects. Else the pod
// waits if its stages began with it, or end it; all other pods, and those that their node ends, go on in the other lifecycle.
type Staged struct {
	Stages func() stage.Stages // for pods
	Other  Lifecycle
}

// Next implements Lifecycle.
func (s *Staged) Next(ctx context.Context, pod *corev1.Pod, f Facts, now time.Time) (Step, error) {
	stages := s.Stages()
	if len(stages) == 0 || f.Ending != nil {
		return s.Other.Next(ctx, pod, f, now)
	}
	if err := f.Choice.Update(pod, stages, now); err != nil {
		return Step{}, err
	}
	at, chosen := f.Choice.Next()
	if chosen && !now.Before(at) {
		return playStage(pod, f, now)
	}
	waits, err := chosen, error(nil)
	if pod.DeletionTimestamp == nil {
		waits, err = beginWith(stages, pod)
	}
	if waits || err != nil {
		return Step{Next: at}, err
	}
	step, err := s.Other.Next(ctx, pod, f, now)
	if step.Next = Earlier(step.Next, at); step.Status != nil {
		step.Next = now // a stage may select the version that this step makes
	}
	return step, err
}

// playStage returns the step of the chosen stage. Its patches may change the pod in any way, so the node looks again at
// once.
func playStage(pod *corev1.Pod, f Facts, now time.Time) (Step, error) {
	actions, err := f.Choice.Actions(funcs(pod, f))
	if err != nil {
		return Step{}, fmt.Errorf("cannot play a stage: %w", err)
	}
	step := Step{Actions: actions, Ends: f.Ends, Next: now, Played: f.Choice}
	if n := len(actions); n > 0 && actions[n-1].Delete {
		step.Next = time.Time{}
	}
	return step, nil
}

// beginWith reports whether a stage selects a pod as it was when it was bound.
func beginWith(stages stage.Stages, pod *corev1.Pod) (bool, error) {
	fresh := *pod
	fresh.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return stages.Select(&fresh)
}

// funcs returns the functions of templates. They answer for this pod on its node, whatever their arguments are.
func funcs(pod *corev1.Pod, f Facts) stage.Funcs {
	of := func(host bool) []string {
		switch {
		case host:
			return f.Host.Strings()
		case f.Pod.First.IsValid():
			return f.Pod.Strings()
		}
		all := []string{pod.Status.PodIP}
		for _, ip := range pod.Status.PodIPs[min(1, len(pod.Status.PodIPs)):] {
			all = append(all, ip.IP)
		}
		return all
	}
	wantsHost := func(args []any) bool {
		host := false
		if len(args) > 1 {
			host, _ = args[1].(bool)
		}
		return host
	}
	return stage.Funcs{
		"Version":     func() string { return client.Version },
		"NodeIP":      func() string { return f.Host.First.String() },
		"NodeIPWith":  func(...any) string { return f.Host.First.String() },
		"NodeIPsWith": func(...any) []string { return f.Host.Strings() },
		"PodIP":       func() string { return of(pod.Spec.HostNetwork)[0] },
		"PodIPWith":   func(args ...any) string { return of(wantsHost(args))[0] },
		"PodIPsWith":  func(args ...any) []string { return of(wantsHost(args)) },
	}
}
