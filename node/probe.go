package node

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of pods that say how the probes of their containers turn out: "pass", "fail",
// or from some time after the container's start on, "fail-after=10s" and "pass-after=10s".
const (
	StartupProbeAnnotation   = "fairlead.dev/startup-probe"
	ReadinessProbeAnnotation = "fairlead.dev/readiness-probe"
	LivenessProbeAnnotation  = "fairlead.dev/liveness-probe"
)

// killed is the exit code of a container that a probe ended.
const killed = 137

// outcome is how a probe turns out: it is first, and its opposite from turns on, if it does.
type outcome struct {
	first bool
	turns time.Duration // below zero: never
}

// readOutcome reads an annotation; nil if there is none, or none that can be read.
func readOutcome(pod *corev1.Pod, annotation string) *outcome {
	word, after, timed := strings.Cut(pod.Annotations[annotation], "-after=")
	if word != "pass" && word != "fail" {
		return nil
	}
	if !timed {
		return &outcome{word == "pass", -1}
	}
	d, err := time.ParseDuration(after)
	if err != nil || d < 0 {
		return nil
	}
	return &outcome{word == "fail", d}
}

// probe is one of a container, with the outcomes it has.
type probe struct {
	delay, period      time.Duration
	successes, failing int // in a row, to count
	outcome
}

// newProbe is nil for a probe that a container does not have, or that passes as soon as it starts. One
// of which the pod does not say how it turns out passes, but not before a kubelet would have asked often enough.
func newProbe(p *corev1.Probe, o *outcome) *probe {
	if p == nil || o == nil && p.InitialDelaySeconds <= 0 && p.SuccessThreshold <= 1 {
		return nil
	}
	if o == nil {
		o = &outcome{first: true, turns: -1}
	}
	or := func(n, otherwise int32) int32 {
		if n <= 0 {
			return otherwise
		}
		return n
	}
	return &probe{
		delay: time.Duration(p.InitialDelaySeconds) * time.Second, period: time.Duration(or(p.PeriodSeconds, 10)) * time.Second,
		successes: int(or(p.SuccessThreshold, 1)), failing: int(or(p.FailureThreshold, 3)), outcome: *o,
	}
}

// reaches is how long after the container's start probing has come to a result: from the
// other, if it was that before, and at once if it began so. Probing begins at from. It is
// not ok if that never happens. The n-th attempt is at n*period after the later of from and the delay; those before
// the outcome turns are of the first kind, all others of the second.
func (p *probe) reaches(result bool, from time.Duration) (at time.Duration, ok bool) {
	need := p.failing
	if result {
		need = p.successes
	}
	from = max(from, p.delay) // both are since the container's start
	attempt := func(n int) time.Duration { return from + time.Duration(n)*p.period }
	before := 0 // attempts of the first kind
	if p.turns >= 0 {
		if lead := p.turns - from; lead > 0 {
			before = int((lead + p.period - 1) / p.period)
		}
	}
	switch {
	case p.first == result && (p.turns < 0 || before >= need):
		return attempt(need - 1), true
	case p.first != result && p.turns >= 0:
		return attempt(before + need - 1), true
	}
	return 0, false
}

// probes are those of a container.
type probes struct{ startup, readiness, liveness *probe }

func (s *script) probes(c *corev1.Container) probes {
	return probes{newProbe(c.StartupProbe, s.startup), newProbe(c.ReadinessProbe, s.readiness), newProbe(c.LivenessProbe, s.liveness)}
}

// started is when the startup probe has succeeded; not ok if it does not.
func (p probes) started() (time.Duration, bool) {
	if p.startup == nil {
		return 0, true
	}
	at, ok := p.startup.reaches(true, 0)
	if end, fails := p.startup.reaches(false, 0); fails && ok && end < at {
		return 0, false
	}
	return at, ok
}

// ends is when a probe ends the container; not ok if none does.
func (p probes) ends() (time.Duration, bool) {
	from, ok := p.started()
	if !ok {
		return p.startup.reaches(false, 0)
	}
	if p.liveness == nil {
		return 0, false
	}
	return p.liveness.reaches(false, from)
}

// look says whether a container that has run for so long has started and is ready, and how
// long after its start that changes next, if it does.
func (p probes) look(runs time.Duration) (started, ready bool, next time.Duration) {
	from, ok := p.started()
	if !ok || runs < from {
		return false, false, from
	}
	if p.readiness == nil {
		return true, true, 0
	}
	up, comes := p.readiness.reaches(true, from)
	down, goes := p.readiness.reaches(false, from)
	goes = goes && p.readiness.first // who begins unready need not become it
	switch {
	case goes && runs >= down:
		return true, false, 0
	case comes && runs >= up:
		if goes {
			next = down
		}
		return true, true, next
	case comes:
		next = up
	}
	return true, false, next
}
