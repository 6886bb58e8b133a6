package lifecycle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/dependencies"
	"fairlead.dev/internal/node/images"
)

// Annotations of pods that control the simulation; see the package documentation of node.
const (
	StartAfterAnnotation     = "fairlead.dev/start-after"
	RunForAnnotation         = "fairlead.dev/run-for"
	ExitCodeAnnotation       = "fairlead.dev/exit-code"
	NotReadyAnnotation       = "fairlead.dev/not-ready"
	TerminateAfterAnnotation = "fairlead.dev/terminate-after"
)

// scenario is the course of a pod as its annotations and images declare it, and what its node has found out about
// it.
type scenario struct {
	startAfter     time.Duration
	ends           bool
	runFor         time.Duration // if ends
	exitCode       int32
	notReady       bool
	terminateAfter time.Duration
	endDeclared    bool // annotations or an image declare runFor; otherwise commands may
	codeDeclared   bool // the same for exitCode
	initial        bool // of init containers
	startDeclared  bool // an annotation declares startAfter; otherwise images may add to it
	images         *images.Behaviors

	startup, readiness, liveness *probeOutcome // nil: not declared

	errors        dependencies.Errors
	admission     admission.Result // of a new pod, or of a resize
	restartPeriod time.Duration    // see Facts; so backOff
	backOff       *BackOff
	ending        *Ending                                                                       // nil unless the node ends the pod
	exceeds       func(*corev1.Pod, *corev1.Container, resource.Quantity) (time.Duration, bool) // see BuiltIn.Exceeds
}

// newScenario returns the course of a pod. startAfter is how long pods take to start, runFor how long those run that
// end, unless annotations or the behaviors of images declare other times.
func newScenario(pod *corev1.Pod, of *images.Behaviors, startAfter, runFor time.Duration) scenario {
	s := scenario{
		images:     of,
		startAfter: startAfter,
		ends:       pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure,
		runFor:     runFor,
	}
	if code, ok := imageExitCode(pod, of); ok {
		s.ends, s.exitCode, s.endDeclared, s.codeDeclared = true, code, true, true
	}
	if len(pod.Annotations) == 0 {
		return s
	}
	s.startDeclared = duration(pod, StartAfterAnnotation, &s.startAfter)
	duration(pod, TerminateAfterAnnotation, &s.terminateAfter)
	if pod.Annotations[RunForAnnotation] == "forever" {
		s.ends, s.endDeclared = false, true
	} else if duration(pod, RunForAnnotation, &s.runFor) {
		s.ends, s.endDeclared = true, true
	}
	if code, err := strconv.ParseInt(pod.Annotations[ExitCodeAnnotation], 10, 32); err == nil {
		s.exitCode, s.codeDeclared = int32(code), true
	}
	s.startup, s.readiness, s.liveness = readOutcome(pod, StartupProbeAnnotation), readOutcome(pod, ReadinessProbeAnnotation), readOutcome(pod, LivenessProbeAnnotation)
	s.notReady, _ = strconv.ParseBool(pod.Annotations[NotReadyAnnotation])
	return s
}

// imageExitCode returns the exit code that the image of a container asks for by the word fail in its name: fail,
// registry/crash-and-fail:3. The code is a numeric tag, or 1. Images with a behavior ask for nothing by their names.
func imageExitCode(pod *corev1.Pod, of *images.Behaviors) (code int32, ok bool) {
	for i := range pod.Spec.Containers {
		image := pod.Spec.Containers[i].Image
		if of.Of(image) != nil {
			continue
		}
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

// probed reports whether probes can end a container.
func (s *scenario) probed(pod *corev1.Pod) bool {
	return s.startup != nil || s.liveness != nil || s.images != nil && slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		b := s.images.Of(c.Image)
		return c.StartupProbe != nil && b != nil && b.ReadyTime != nil
	})
}

// probes returns the probes of a container with the outcomes that annotations declare, or its image.
func (s *scenario) probes(pod *corev1.Pod, c *corev1.Container) probes {
	startup, readiness := s.startup, s.readiness
	if b := s.images.Of(c.Image); b != nil && b.ReadyTime != nil {
		ready := &probeOutcome{turns: b.Ready(images.Run{Pod: pod.UID, Container: c.Name})}
		startup, readiness = cmp.Or(startup, ready), cmp.Or(readiness, ready)
	}
	return probes{newProbe(c.StartupProbe, startup), newProbe(c.ReadinessProbe, readiness), newProbe(c.LivenessProbe, s.liveness)}
}
