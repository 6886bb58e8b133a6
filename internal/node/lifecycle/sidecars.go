package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
)

// proceedSidecars ends the sidecars of a running pod whose time has come, and restarts ended ones with back-off. It returns when
// to look again.
func (s *scenario) proceedSidecars(pod *corev1.Pod, status *corev1.PodStatus, now time.Time) (next time.Time) {
	for i := range min(len(status.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		spec, c := &pod.Spec.InitContainers[i], &status.InitContainerStatuses[i]
		if !admission.IsSidecar(spec) {
			continue
		}
		if c.State.Running != nil {
			end, exit := s.end(pod, spec, c)
			if end.IsZero() || now.Before(end) {
				next = Earlier(next, end)
				continue
			}
			setTerminated(pod, spec, c, exit, c.State.Running.StartedAt, now)
			next = Earlier(next, s.putOff(pod, c, now))
			continue
		}
		last := c.LastTerminationState.Terminated
		if c.State.Waiting == nil || last == nil {
			continue
		}
		if again := last.FinishedAt.Add(s.wait(c, last)); now.Before(again) {
			next = Earlier(next, again)
		} else if !showConfigError(c, c.State.Waiting.Reason, spec, *s) {
			ended := c.LastTerminationState
			*c = containerStatus(pod, spec, c.RestartCount+1)
			c.LastTerminationState = ended
			setRunning(c, now)
			end, _ := s.end(pod, spec, c)
			next = Earlier(next, end)
		}
	}
	return next
}

// watchSidecar sets whether a running sidecar has started and is ready. It returns when that changes, or the sidecar ends.
func (s *scenario) watchSidecar(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus, now time.Time) (next time.Time) {
	c.Started, c.Ready, next = s.lookAt(pod, spec, c, now)
	end, _ := s.end(pod, spec, c)
	return Earlier(next, end)
}
