package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// configError is the reason of a container that waits because it cannot be made.
const configError = "CreateContainerConfigError"

// crashLoop is that of one that waits to be started again.
const crashLoop = "CrashLoopBackOff"

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// create shows the containers as waiting to be created.
func create(pod *corev1.Pod, s *corev1.PodStatus) {
	reason := "ContainerCreating"
	if len(pod.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	waiting := func(cs []corev1.Container) []corev1.ContainerStatus {
		out := make([]corev1.ContainerStatus, len(cs))
		for i := range cs {
			out[i] = corev1.ContainerStatus{
				Name: cs[i].Name, Image: cs[i].Image, Started: ptr.To(false),
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
			}
		}
		return out
	}
	s.ContainerStatuses = waiting(pod.Spec.Containers)
	if len(pod.Spec.InitContainers) > 0 {
		s.InitContainerStatuses = waiting(pod.Spec.InitContainers)
	}
}

// start brings the init containers on, and when they are done shows the containers as running, up
// to the first that cannot be made. It returns when to look again if there is more to do, and
// whether the pod has failed because an init container has.
func start(pod *corev1.Pod, s *corev1.PodStatus, sc script, now time.Time) (next time.Time, failed bool) {
	before, main := s.InitContainerStatuses, s.ContainerStatuses
	create(pod, s)
	for i := range min(len(before), len(s.InitContainerStatuses)) {
		if c := &before[i]; c.State.Waiting == nil || c.LastTerminationState.Terminated != nil {
			s.InitContainerStatuses[i] = *c
		}
	}
	if done, next, failed := initialize(pod, s, before, sc, now); !done {
		return next, failed
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if !lacks(&s.ContainerStatuses[i], waitsFor(main, i), c, sc) {
			s.ContainerStatuses[i] = containerStatus(pod, c, 0)
			run(&s.ContainerStatuses[i], now)
		}
	}
	return sc.firstEnd(pod, s), false
}

// lacks shows that a container cannot be made, if that is so; before is the reason for
// which it has waited until now.
func lacks(c *corev1.ContainerStatus, before string, spec *corev1.Container, sc script) bool {
	if imageless(c, before, spec) {
		return true
	}
	message, lacks := sc.unmade[c.Name]
	if lacks {
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: configError, Message: message}}
	}
	return lacks
}

// proceed lets running containers come to their end, and those that ended start again
// if they are to. It returns when to look again.
func proceed(pod *corev1.Pod, s *corev1.PodStatus, sc script, now, ends time.Time) (next time.Time) {
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		switch {
		case c.State.Running != nil:
			end, code := sc.end(pod, &pod.Spec.Containers[i], c)
			if early := ends.Sub(end); !ends.IsZero() && !sc.probed() && early >= 0 && early < time.Second { // else it is another container's
				end = ends
			}
			if end.IsZero() || now.Before(end) {
				if !end.IsZero() {
					at(end)
				}
				continue
			}
			exit(pod, &pod.Spec.Containers[i], c, code, c.State.Running.StartedAt, now)
			if !restarts(pod, &pod.Spec.Containers[i], code) {
				continue
			}
			at(backOff(pod, c, now))
		case c.State.Waiting != nil && c.LastTerminationState.Terminated != nil:
			again := c.LastTerminationState.Terminated.FinishedAt.Add(crashBackoff(c.RestartCount + 1))
			if now.Before(again) {
				at(again)
				continue
			}
			if lacks(c, c.State.Waiting.Reason, &pod.Spec.Containers[i], sc) {
				continue
			}
			old := *c
			*c = containerStatus(pod, &pod.Spec.Containers[i], c.RestartCount+1)
			c.LastTerminationState = old.LastTerminationState
			if old.Resources != nil { // a resize may have been put off
				c.Resources, c.AllocatedResources = old.Resources, old.AllocatedResources
			}
			run(c, now)
			if end, _ := sc.end(pod, &pod.Spec.Containers[i], c); !end.IsZero() {
				at(end)
			}
		case c.State.Waiting != nil && !lacks(c, c.State.Waiting.Reason, &pod.Spec.Containers[i], sc): // it lacked something until now
			*c = containerStatus(pod, &pod.Spec.Containers[i], 0)
			run(c, now)
			if end, _ := sc.end(pod, &pod.Spec.Containers[i], c); !end.IsZero() {
				at(end)
			}
		}
	}
	return next
}

// backOff has a container that has exited wait for its restart, and says when that is.
func backOff(pod *corev1.Pod, c *corev1.ContainerStatus, now time.Time) time.Time {
	wait := crashBackoff(c.RestartCount + 1)
	c.LastTerminationState = c.State
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  crashLoop,
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", wait, c.Name, pod.Name, pod.Namespace, pod.UID),
	}}
	return now.Add(wait)
}

// terminate ends the containers that run.
func terminate(pod *corev1.Pod, s *corev1.PodStatus, code int32, now time.Time) {
	end := func(spec *corev1.Container, c *corev1.ContainerStatus) {
		switch {
		case c.State.Running != nil:
			exit(pod, spec, c, code, c.State.Running.StartedAt, now)
		case c.State.Waiting != nil && c.LastTerminationState.Terminated != nil:
			c.State, c.LastTerminationState = c.LastTerminationState, corev1.ContainerState{}
		}
	}
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		end(&pod.Spec.InitContainers[i], &s.InitContainerStatuses[i])
	}
	for i := range min(len(s.ContainerStatuses), len(pod.Spec.Containers)) {
		end(&pod.Spec.Containers[i], &s.ContainerStatuses[i])
	}
	for i := range s.EphemeralContainerStatuses {
		end(ephemeralSpec(pod, s.EphemeralContainerStatuses[i].Name), &s.EphemeralContainerStatuses[i])
	}
}

func run(c *corev1.ContainerStatus, now time.Time) {
	c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
	c.Started, c.Ready = ptr.To(true), true
}

func exit(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus, code int32, started metav1.Time, now time.Time) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: started, FinishedAt: metav1.NewTime(now), ContainerID: c.ContainerID,
		Message: lastWords(pod, spec, code),
	}}
	c.Started, c.Ready = ptr.To(false), false
}

// readiness says of running containers, sidecars too, whether they have started and are ready, and
// when that changes.
func readiness(pod *corev1.Pod, s *corev1.PodStatus, sc script, now time.Time) (next time.Time) {
	for i := range s.ContainerStatuses {
		if c := &s.ContainerStatuses[i]; c.State.Running != nil {
			var at time.Time
			c.Started, c.Ready, at = sc.lookAt(&pod.Spec.Containers[i], c, now)
			next = sooner(next, at)
		}
	}
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		if c, spec := &s.InitContainerStatuses[i], &pod.Spec.InitContainers[i]; isSidecar(spec) && c.State.Running != nil {
			var at time.Time
			c.Started, c.Ready, at = sc.lookAt(spec, c, now)
			next = sooner(next, at)
		}
	}
	return next
}

// lookAt reports whether a running container has started and is ready, and when that changes.
func (s *script) lookAt(spec *corev1.Container, c *corev1.ContainerStatus, now time.Time) (started *bool, ready bool, next time.Time) {
	began := c.State.Running.StartedAt
	up, ready, after := s.probes(spec).look(now.Sub(began.Time))
	if after > 0 {
		next = began.Add(after)
	}
	return &up, ready && !s.notReady, next
}

func containerStatus(pod *corev1.Pod, c *corev1.Container, restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:         c.Name,
		Image:        c.Image,
		ImageID:      imageID(c.Image),
		ContainerID:  "fairlead://" + digest(fmt.Sprintf("%s/%s/%d", pod.UID, c.Name, restarts)),
		RestartCount: restarts,
		Resources:    c.Resources.DeepCopy(), AllocatedResources: c.Resources.Requests.DeepCopy(),
	}
}

// imageID is the name of an image with a digest made of name and tag.
func imageID(image string) string {
	if strings.Contains(image, "@") {
		return image
	}
	name := image
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		name = image[:i]
	}
	return name + "@sha256:" + digest(image)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
