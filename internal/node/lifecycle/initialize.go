package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/admission"
)

// initialize runs the init containers one after the other. If their commands are understood they run as long as
// those take, otherwise they complete at once. It returns done when all have completed, or have started if they
// are sidecars; otherwise when to look again, and whether the pod has failed.
func initialize(pod *corev1.Pod, s *corev1.PodStatus, before []corev1.ContainerStatus, sc scenario, now time.Time) (done bool, next time.Time, failed bool) {
	for i := range pod.Spec.InitContainers {
		spec, c := &pod.Spec.InitContainers[i], &s.InitContainerStatuses[i]
		if isInitialized(spec, c) {
			continue
		}
		if c.State.Waiting != nil {
			restarts := c.RestartCount
			if last := c.LastTerminationState.Terminated; last != nil && c.State.Waiting.Reason != restartingAll {
				restarts = c.RestartCount + 1
				if again := last.FinishedAt.Add(sc.wait(c, last)); now.Before(again) {
					return false, again, false
				}
			}
			if showConfigError(c, waitingReason(before, i), spec, sc) {
				return false, next, false
			}
			last := c.LastTerminationState
			*c = containerStatus(pod, spec, restarts)
			c.LastTerminationState = last
			if admission.IsSidecar(spec) {
				setRunning(c, now)
				if next = sc.watchSidecar(pod, spec, c, now); !*c.Started {
					return false, next, false
				}
				continue
			}
			c.State.Running, c.Started = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}, ptr.To(false)
			if co := sc.initLifespan(pod, spec, c.RestartCount); !co.ends || co.runFor > 0 || co.exit.Code != 0 {
				return false, co.endsAt(now), false // the running state is written first
			}
		}
		if c.State.Running != nil && admission.IsSidecar(spec) {
			if end, exit := sc.end(pod, spec, c); !end.IsZero() && !now.Before(end) {
				setTerminated(pod, spec, c, exit, c.State.Running.StartedAt, now)
				return false, sc.putOff(pod, c, now), false
			}
			if next = sc.watchSidecar(pod, spec, c, now); !*c.Started {
				return false, next, false
			}
			continue
		}
		if c.State.Running != nil {
			co := sc.initLifespan(pod, spec, c.RestartCount)
			if end := co.endsAt(c.State.Running.StartedAt.Time); end.IsZero() || now.Before(end) {
				return false, end, false
			}
			setTerminated(pod, spec, c, co.exit, c.State.Running.StartedAt, now)
			c.Ready = co.exit.Code == 0
		}
		if end := c.State.Terminated; action(spec, end.ExitCode) == corev1.ContainerRestartRuleActionRestartAllContainers {
			restartAll(pod, s, c, now)
			return false, now, false
		} else if end.ExitCode != 0 {
			if !restarts(pod, spec, end.ExitCode) {
				return false, next, true
			}
			return false, sc.putOff(pod, c, now), false
		}
	}
	return true, next, false
}

// isInitialized reports whether the init containers after this one may run.
func isInitialized(spec *corev1.Container, c *corev1.ContainerStatus) bool {
	if admission.IsSidecar(spec) {
		return c.State.Terminated != nil || c.State.Running != nil && ptr.Deref(c.Started, true)
	}
	return c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
}

// initLifespan returns the lifespan of an init container.
func (s *scenario) initLifespan(pod *corev1.Pod, c *corev1.Container, restarts int32) lifespan {
	of := scenario{ends: true, initial: true, images: s.images, exceeds: s.exceeds}
	return of.lifespan(pod, c, restarts)
}
