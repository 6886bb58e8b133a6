package lifecycle

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/images"
)

// configError is the reason of a container that waits because its environment or mounts have an error.
const configError = "CreateContainerConfigError"

// crashLoop is the reason of a container that waits for its next restart.
const crashLoop = "CrashLoopBackOff"

// containerStatus returns the status of a container that is about to start.
func containerStatus(pod *corev1.Pod, c *corev1.Container, restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:         c.Name,
		Image:        c.Image,
		ImageID:      images.ID(c.Image),
		ContainerID:  fmt.Sprintf("fairlead://%x", sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pod.UID, c.Name, restarts))),
		RestartCount: restarts,
		Resources:    c.Resources.DeepCopy(), AllocatedResources: c.Resources.Requests.DeepCopy(),
	}
}

// showConfigError puts a container with a configuration error into waiting, and reports whether it has one. before
// is the container's previous reason for waiting.
func showConfigError(c *corev1.ContainerStatus, before string, spec *corev1.Container, sc scenario) bool {
	if showImageError(c, before, spec) {
		return true
	}
	message, lacks := sc.errors.Containers[c.Name]
	if lacks {
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: configError, Message: message}}
	}
	return lacks
}

// setRunning starts a container.
func setRunning(c *corev1.ContainerStatus, now time.Time) {
	c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
	c.Started, c.Ready = ptr.To(true), true
}

// setTerminated ends a container that started at a time.
func setTerminated(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus, exit images.Exit, started metav1.Time, now time.Time) {
	reason := "Completed"
	if exit.Code != 0 {
		reason = "Error"
	}
	c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: exit.Code, Reason: cmp.Or(exit.Reason, reason), StartedAt: started, FinishedAt: metav1.NewTime(now), ContainerID: c.ContainerID,
		Message: terminationMessage(pod, spec, exit.Code),
	}}
	c.Started, c.Ready = ptr.To(false), false
}

// putOff puts an exited container into waiting for its restart, and returns when that is.
func (s *scenario) putOff(pod *corev1.Pod, c *corev1.ContainerStatus, now time.Time) time.Time {
	wait := s.wait(c, c.State.Terminated)
	c.LastTerminationState = c.State
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  crashLoop,
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", wait, c.Name, pod.Name, pod.Namespace, pod.UID),
	}}
	return now.Add(wait)
}

// lookAt returns whether a running container has started and is ready, and when that changes.
func (s *scenario) lookAt(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus, now time.Time) (started *bool, ready bool, next time.Time) {
	began := c.State.Running.StartedAt
	up, ready, after := s.probes(pod, spec).look(now.Sub(began.Time))
	if after > 0 {
		next = began.Add(after)
	}
	return &up, ready && !s.notReady, next
}
