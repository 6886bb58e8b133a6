package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/images"
)

// pull is the pull of an image that a pod waits for.
type pull struct {
	image string
	size  int64
	took  time.Duration
}

// prepareImages adds to the time that a pod takes to start the times that its images declare: those of the pulls of images
// that the node does not have, one after the other as kubelets pull by default, and the longest start of a container. It
// returns the pulls of a pod that has not started.
func (s *scenario) prepareImages(pod *corev1.Pod, node Node) (all []pull) {
	if s.images == nil || s.startDeclared || IsStarted(&pod.Status) {
		return nil
	}
	var starts time.Duration
	seen := map[string]bool{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			b := s.images.Of(c.Image)
			if b == nil {
				continue
			}
			run := images.Run{Pod: pod.UID, Container: c.Name}
			starts = max(starts, b.Start(run))
			if took := b.Pull(run); took > 0 && !seen[c.Image] && c.ImagePullPolicy != corev1.PullNever && !node.HasImage(c.Image) {
				seen[c.Image] = true
				all = append(all, pull{c.Image, s.images.Size(c.Image), took})
				s.startAfter += took
			}
		}
	}
	s.startAfter += starts
	return all
}

// pulled adds the events of images that a pod begins to pull, or has pulled.
func (e *events) pulled() {
	for _, p := range e.pulls {
		if e.before.StartTime == nil && e.after.StartTime != nil {
			e.add(corev1.EventTypeNormal, "Pulling", "Pulling image %q", p.image)
		}
		if !IsStarted(e.before) && IsStarted(e.after) {
			e.add(corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", p.image, p.took, p.took, p.size)
		}
	}
}
