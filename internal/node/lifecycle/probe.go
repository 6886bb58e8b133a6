package lifecycle

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Annotations of pods that declare the outcomes of probes; see the package documentation of node.
const (
	StartupProbeAnnotation   = "fairlead.dev/startup-probe"
	ReadinessProbeAnnotation = "fairlead.dev/readiness-probe"
	LivenessProbeAnnotation  = "fairlead.dev/liveness-probe"
)

// killed is the exit code of a container that a probe ended.
const killed = 137

// probeOutcome is the result of a probe over time: first, and from turns on its opposite.
type probeOutcome struct {
	first bool
	turns time.Duration // below zero: never
	warns bool          // passes with a warning, if the probe is an HTTP request
}

// readOutcome reads an annotation; nil if it is missing or invalid.
func readOutcome(pod *corev1.Pod, annotation string) *probeOutcome {
	if pod.Annotations[annotation] == "warn" {
		return &probeOutcome{first: true, turns: -1, warns: true}
	}
	word, after, timed := strings.Cut(pod.Annotations[annotation], "-after=")
	if word != "pass" && word != "fail" {
		return nil
	}
	if !timed {
		return &probeOutcome{first: word == "pass", turns: -1}
	}
	d, err := time.ParseDuration(after)
	if err != nil || d < 0 {
		return nil
	}
	return &probeOutcome{first: word == "fail", turns: d}
}

// probe is a probe of a container with its outcome.
type probe struct {
	delay, period      time.Duration
	successes, failing int            // thresholds of consecutive results
	grace              *time.Duration // of the container when it has failed; nil for the pod's
	probeOutcome
}

// newProbe returns nil for a probe that a container does not have. A probe without an annotation passes after as many
// attempts as its successThreshold demands.
func newProbe(p *corev1.Probe, o *probeOutcome) *probe {
	if p == nil {
		return nil
	}
	if o == nil {
		o = &probeOutcome{first: true, turns: -1}
	}
	or := func(n, otherwise int32) int32 {
		if n <= 0 {
			return otherwise
		}
		return n
	}
	var grace *time.Duration
	if p.TerminationGracePeriodSeconds != nil {
		grace = ptr.To(time.Duration(*p.TerminationGracePeriodSeconds) * time.Second)
	}
	made := &probe{
		grace: grace, delay: time.Duration(p.InitialDelaySeconds) * time.Second, period: time.Duration(or(p.PeriodSeconds, 10)) * time.Second,
		successes: int(or(p.SuccessThreshold, 1)), failing: int(or(p.FailureThreshold, 3)), probeOutcome: *o,
	}
	made.warns = made.warns && p.HTTPGet != nil
	return made
}

// begins returns when the first attempt is, if probing begins at from.
func (p *probe) begins(from time.Duration) time.Duration { return max(from, p.delay) }

// lead returns how many attempts have the first result, if the outcome turns and the first attempt is at from.
func (p *probe) lead(from time.Duration) int {
	return int((max(0, p.turns-from) + p.period - 1) / p.period)
}

// reaches returns how long after the container's start the probe has reached a result: after as many attempts as
// the threshold demands, or at once if it starts with that result. ok is false if it never does. Probing begins at
// from; attempt n is at n*period after the later of from and the delay. Attempts before the outcome turns have the
// first result, all others the second. For example, with period 10s, failureThreshold 3 and fail-after=25s
// attempts at 10s and 20s pass, those at 30s, 40s and 50s fail: the probe has failed at 50s.
func (p *probe) reaches(result bool, from time.Duration) (at time.Duration, ok bool) {
	need := p.failing
	if result {
		need = p.successes
	}
	from = p.begins(from) // both count from the container's start
	attempt := func(n int) time.Duration { return from + time.Duration(n)*p.period }
	before := 0 // attempts with the first result
	if p.turns >= 0 {
		before = p.lead(from)
	}
	switch {
	case p.first == result && (p.turns < 0 || before >= need):
		return attempt(need - 1), true
	case p.first != result && p.turns >= 0:
		return attempt(before + need - 1), true
	}
	return 0, false
}

// probes are the probes of a container.
type probes struct{ startup, readiness, liveness *probe }

// started returns when the startup probe has succeeded; ok is false if it never does.
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

// ends returns when a probe ends the container; ok is false if that never happens.
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

// kill returns when a probe ends the container, and the time that it then has at most: the probe's own, else the pod's.
func (p probes) kill(pod time.Duration) (at, grace time.Duration, ok bool) {
	at, ok = p.ends()
	by := p.liveness
	if _, started := p.started(); !started {
		by = p.startup
	}
	if grace = pod; ok && by.grace != nil {
		grace = *by.grace
	}
	return at, grace, ok
}

// look returns whether a container has started and is ready after running for a time, and how long after its start
// that changes next.
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
	goes = goes && p.readiness.first // a container that starts unready does not become so
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
