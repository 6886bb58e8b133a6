package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/images"
)

// Reasons of a container that waits for its image: a pull has just failed, or waits for its back-off.
const (
	pullError   = "ErrImagePull"
	pullBackOff = "ImagePullBackOff"
)

// Reasons that last: the policy forbids to pull the image, or its name is invalid.
const (
	neverPull = "ErrImageNeverPull"
	badName   = "InvalidImageName"
)

// pullPause is how long ErrImagePull lasts before ImagePullBackOff.
const pullPause = time.Second

// showImageError puts a container whose image cannot be pulled into waiting, and reports whether that is so.
// before is the container's previous reason for waiting.
func showImageError(c *corev1.ContainerStatus, before string, spec *corev1.Container) bool {
	w := &corev1.ContainerStateWaiting{}
	switch problem := images.NameError(spec.Image); {
	case problem != "":
		w.Reason, w.Message = badName, fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name %q: %s", spec.Image, spec.Image, problem)
	case !images.IsMissing(spec.Image):
		return false
	case spec.ImagePullPolicy == corev1.PullNever:
		w.Reason, w.Message = neverPull, fmt.Sprintf("Container image %q is not present with pull policy of Never", spec.Image)
	case before == pullError || before == pullBackOff:
		w.Reason, w.Message = pullBackOff, fmt.Sprintf("Back-off pulling image %q", spec.Image)
	default:
		w.Reason, w.Message = pullError, fmt.Sprintf("failed to pull image %q: not found (simulated)", spec.Image)
	}
	c.State = corev1.ContainerState{Waiting: w}
	return true
}

// nextPull returns when ErrImagePull of one of the containers becomes ImagePullBackOff; zero without such a
// container.
func nextPull(s *corev1.PodStatus, now time.Time) time.Time {
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range list {
			if waitingReason(list, i) == pullError {
				return now.Add(pullPause)
			}
		}
	}
	return time.Time{}
}

// waitingReason returns the reason for which a container waits; "" if it does not.
func waitingReason(list []corev1.ContainerStatus, i int) string {
	if i < len(list) && list[i].State.Waiting != nil {
		return list[i].State.Waiting.Reason
	}
	return ""
}
