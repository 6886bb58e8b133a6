package node

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of pods that say how the simulation goes; see the package documentation.
const (
	StartAfterAnnotation     = "fairlead.dev/start-after"
	RunForAnnotation         = "fairlead.dev/run-for"
	ExitCodeAnnotation       = "fairlead.dev/exit-code"
	NotReadyAnnotation       = "fairlead.dev/not-ready"
	TerminateAfterAnnotation = "fairlead.dev/terminate-after"
)

// script is how a pod is played.
type script struct {
	startAfter     time.Duration
	ends           bool
	runFor         time.Duration // if it ends
	exitCode       int32
	notReady       bool
	terminateAfter time.Duration
	endTold        bool // annotations or an image say how long containers run; else their commands may
	codeTold       bool // so for how they end
	initial        bool // it is that of init containers

	startup, readiness, liveness *outcome // nil: as if there were no such probe

	// What the pod lacks: messages about volumes that cannot be set up, and for containers that
	// cannot be made why, by name.
	unmounted []string
	unmade    map[string]string
	refusal   refusal   // of a pod that has arrived, or that is to be resized
	evicted   time.Time // when it was told to end for another; zero if it was not
}

func (o *Options) script(pod *corev1.Pod) script {
	s := script{
		startAfter: o.StartAfter,
		ends:       pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure,
		runFor:     o.RunFor,
	}
	if code, ok := asksToFail(pod); ok {
		s.ends, s.exitCode, s.endTold, s.codeTold = true, code, true, true
	}
	if len(pod.Annotations) == 0 {
		return s
	}
	duration(pod, StartAfterAnnotation, &s.startAfter)
	duration(pod, TerminateAfterAnnotation, &s.terminateAfter)
	if pod.Annotations[RunForAnnotation] == "forever" {
		s.ends, s.endTold = false, true
	} else if duration(pod, RunForAnnotation, &s.runFor) {
		s.ends, s.endTold = true, true
	}
	if code, err := strconv.ParseInt(pod.Annotations[ExitCodeAnnotation], 10, 32); err == nil {
		s.exitCode, s.codeTold = int32(code), true
	}
	s.startup, s.readiness, s.liveness = readOutcome(pod, StartupProbeAnnotation), readOutcome(pod, ReadinessProbeAnnotation), readOutcome(pod, LivenessProbeAnnotation)
	s.notReady, _ = strconv.ParseBool(pod.Annotations[NotReadyAnnotation])
	return s
}

// asksToFail says whether the image of one of the containers is called fail, or has that
// for a word of its name: fail, registry/crash-and-fail:3. A tag that is a number is the exit code,
// which is 1 otherwise.
func asksToFail(pod *corev1.Pod) (code int32, ok bool) {
	for i := range pod.Spec.Containers {
		image := pod.Spec.Containers[i].Image
		image = image[strings.LastIndexByte(image, '/')+1:]
		image, _, _ = strings.Cut(image, "@")
		name, tag, _ := strings.Cut(image, ":")
		if !slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' }), "fail") {
			continue
		}
		if n, err := strconv.ParseUint(tag, 10, 8); err == nil && n > 0 {
			return int32(n), true
		}
		return 1, true
	}
	return 0, false
}

func duration(pod *corev1.Pod, annotation string, d *time.Duration) bool {
	v, err := time.ParseDuration(pod.Annotations[annotation])
	if err == nil && v >= 0 {
		*d = v
	}
	return err == nil && v >= 0
}

// probed says whether probes can end a container.
func (s *script) probed() bool { return s.startup != nil || s.liveness != nil }

// crashBackoff is how long a container waits before its n-th restart; the first is at once.
func crashBackoff(n int32) time.Duration {
	if n <= 1 {
		return 0
	}
	d := 10 * time.Second
	for ; n > 2 && d < 5*time.Minute; n-- {
		d *= 2
	}
	return min(d, 5*time.Minute)
}
