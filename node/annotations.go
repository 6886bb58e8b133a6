package node

import "fairlead.dev/internal/node/lifecycle"

// Annotations of pods that control the simulation; see the package documentation.
const (
	StartAfterAnnotation     = lifecycle.StartAfterAnnotation
	RunForAnnotation         = lifecycle.RunForAnnotation
	ExitCodeAnnotation       = lifecycle.ExitCodeAnnotation
	NotReadyAnnotation       = lifecycle.NotReadyAnnotation
	TerminateAfterAnnotation = lifecycle.TerminateAfterAnnotation
)

// Annotations of pods that declare how the probes of their containers turn out: "pass", "fail", or from some time
// after the container's start on, "fail-after=10s" and "pass-after=10s". "warn" passes with a warning if the probe is an HTTP
// request.
const (
	StartupProbeAnnotation   = lifecycle.StartupProbeAnnotation
	ReadinessProbeAnnotation = lifecycle.ReadinessProbeAnnotation
	LivenessProbeAnnotation  = lifecycle.LivenessProbeAnnotation
)

// CommandsUnderstood is a condition of pods. It is False if the node does not understand the commands of some
// containers and so assumes when these end; the message names the containers and the assumption. Pods whose
// containers just run until they are deleted do not have it.
const CommandsUnderstood = lifecycle.CommandsUnderstood
