package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/shell"
)

// CommandsUnderstood is a condition of pods; see the package node.
const CommandsUnderstood corev1.PodConditionType = "fairlead.dev/CommandsUnderstood"

// Reasons of the condition CommandsUnderstood.
const (
	commandNotUnderstood = "CommandNotUnderstood" // the pod specifies a command
	imageNotRun          = "ImageNotRun"          // the pod specifies only an image
)

// assumption is the end that is assumed of a container whose command is not understood.
type assumption int

const (
	runsOn   assumption = iota // as a server does
	endsSoon                   // with exit code 0: a job with only an image, or an init container
)

// assumed returns the assumption about a container. A specified command might fail, so it is not assumed to
// succeed: it runs on.
func (s *scenario) assumed(pod *corev1.Pod, c *corev1.Container) assumption {
	ends := s.ends
	if c.RestartPolicy != nil && !s.initial {
		ends = *c.RestartPolicy != corev1.ContainerRestartPolicyAlways
	}
	if !ends || onlyWaits(c) || isSpelledOut(c) && !s.initial && !s.codeDeclared {
		return runsOn
	}
	return endsSoon
}

// onlyWaits reports whether a container runs an image that is known to wait for ever: Kubernetes' pause, and
// agnhost, which its tests use.
func onlyWaits(c *corev1.Container) bool {
	if len(c.Command) > 0 || len(c.Args) > 0 {
		return false
	}
	name, _, _ := strings.Cut(c.Image[strings.LastIndexByte(c.Image, '/')+1:], "@")
	name, _, _ = strings.Cut(name, ":")
	return name == "pause" || name == "agnhost"
}

// isSpelledOut reports whether the pod specifies a command or arguments for a container.
func isSpelledOut(c *corev1.Container) bool { return len(c.Command) > 0 || len(c.Args) > 0 }

// assume sets or removes the condition CommandsUnderstood of a pod.
func assume(pod *corev1.Pod, st *corev1.PodStatus, s scenario, now time.Time) {
	i := slices.IndexFunc(st.Conditions, func(c corev1.PodCondition) bool { return c.Type == CommandsUnderstood })
	reason, message := s.assumptions(pod)
	switch {
	case reason == "" && i >= 0:
		st.Conditions = slices.Delete(st.Conditions, i, i+1)
	case reason == "":
	case i < 0:
		st.Conditions = append(st.Conditions, corev1.PodCondition{
			Type: CommandsUnderstood, Status: corev1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now),
		})
	default:
		c := &st.Conditions[i]
		c.Reason, c.Message, c.ObservedGeneration = reason, message, pod.Generation
	}
}

// assumptions returns the reason and message of the condition CommandsUnderstood; the reason is empty without
// assumptions.
func (s *scenario) assumptions(pod *corev1.Pod) (reason, message string) {
	var runs, end, passed []string
	if !s.endDeclared {
		for i := range pod.Spec.Containers {
			c := &pod.Spec.Containers[i]
			if policy(pod, c) == corev1.RestartPolicyAlways || onlyWaits(c) || s.isKnown(pod, c) {
				continue
			}
			if s.assumed(pod, c) == runsOn {
				runs = append(runs, c.Name)
			} else if !s.codeDeclared {
				end = append(end, c.Name)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; !admission.IsSidecar(c) && !onlyWaits(c) && !s.isKnown(pod, c) {
			passed = append(passed, c.Name)
		}
	}
	if runs == nil && end == nil && passed == nil {
		return "", ""
	}
	reason = imageNotRun
	var what []string
	if runs != nil {
		reason = commandNotUnderstood
		what = append(what, fmt.Sprintf("containers [%s] run until the pod is deleted, since their commands are not understood", strings.Join(runs, " ")))
	}
	if end != nil {
		what = append(what, fmt.Sprintf("containers [%s] end with exit code 0 after %s, since they name nothing but an image", strings.Join(end, " "), s.runFor))
	}
	if passed != nil {
		what = append(what, fmt.Sprintf("init containers [%s] are passed over", strings.Join(passed, " ")))
	}
	return reason, "This node is simulated and runs nothing: " + strings.Join(what, "; ") +
		". The annotations " + RunForAnnotation + " and " + ExitCodeAnnotation + " say what containers do."
}

// isKnown reports whether a container's image declares how long it runs, or its command is understood.
func (s *scenario) isKnown(pod *corev1.Pod, c *corev1.Container) bool {
	if b := s.images.Of(c.Image); b != nil && b.RunTime != nil {
		return true
	}
	_, ok := shell.Predict(pod, c, nil)
	return ok
}
