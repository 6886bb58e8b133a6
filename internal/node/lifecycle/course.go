package lifecycle

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kinds of probes, as indexes.
const (
	startup = iota
	readiness
	liveness
	probeKinds
)

// probeNames are the names of the kinds in events and metrics.
var probeNames = [probeKinds]string{"Startup", "Readiness", "Liveness"}

// attempts counts the results of a probe.
type attempts struct{ passed, failed int }

func (a attempts) plus(b attempts) attempts {
	return attempts{a.passed + b.passed, a.failed + b.failed}
}

// atLeast returns the larger of each count, so that no count decreases when annotations change.
func (a attempts) atLeast(b attempts) attempts {
	return attempts{max(a.passed, b.passed), max(a.failed, b.failed)}
}

// course is when a kubelet tries a probe during a run of a container. Its times count from the start of the run. The
// zero value is that of a probe that is never tried.
type course struct {
	*probe
	from  time.Duration // the first attempt
	last  time.Duration // the last attempt; below zero: the probe is tried as long as the container runs
	kills bool          // the last attempt ends the container
}

// courses returns the courses of the probes: liveness and readiness begin when the startup probe has passed, startup and
// liveness end with the attempt that decides.
func (p probes) courses() (all [probeKinds]course) {
	from, started := p.started()
	if p.startup != nil {
		all[startup] = course{probe: p.startup, from: p.startup.begins(0), last: from}
		if !started {
			all[startup].last, all[startup].kills = p.startup.reaches(false, 0)
		}
	}
	if !started {
		return all
	}
	if p.readiness != nil {
		all[readiness] = course{probe: p.readiness, from: p.readiness.begins(from), last: -1}
	}
	if p.liveness != nil {
		all[liveness] = course{probe: p.liveness, from: p.liveness.begins(from), last: -1}
		if at, fails := p.liveness.reaches(false, from); fails {
			all[liveness].last, all[liveness].kills = at, true
		}
	}
	return all
}

// count returns the results of all attempts until a time.
func (c *course) count(until time.Duration) attempts {
	if c.probe == nil {
		return attempts{}
	}
	if c.last >= 0 {
		until = min(until, c.last)
	}
	if until < c.from {
		return attempts{}
	}
	n := int((until-c.from)/c.period) + 1
	lead := n
	if c.turns >= 0 {
		lead = min(n, c.lead(c.from))
	}
	if c.first {
		return attempts{lead, n - lead}
	}
	return attempts{n - lead, lead}
}

// nextTold returns the next attempt after a time of which an event tells: one that fails, or passes with a warning.
func (c *course) nextTold(after time.Duration) (at time.Duration, ok bool) {
	if c.probe == nil {
		return 0, false
	}
	done := c.count(after)
	n := done.passed + done.failed
	passes := c.first
	if c.turns >= 0 && n >= c.lead(c.from) {
		passes = !passes
	}
	if passes && !c.warns {
		if !c.first || c.turns < 0 {
			return 0, false
		}
		n = c.lead(c.from)
	}
	at = c.from + time.Duration(n)*c.period
	return at, c.last < 0 || at <= c.last
}

// probeSpecs returns the probes of a container, in the order of their kinds; nil for those that it does not have.
func probeSpecs(c *corev1.Container) [probeKinds]*corev1.Probe {
	return [probeKinds]*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe}
}

// failure returns the message of a failed attempt, in the words of a kubelet.
func failure(p *corev1.Probe, c *corev1.Container, podIP string) string {
	switch {
	case p.HTTPGet != nil:
		return "HTTP probe failed with statuscode: 503"
	case p.TCPSocket != nil:
		host := p.TCPSocket.Host
		if host == "" {
			host = podIP
		}
		return fmt.Sprintf("dial tcp %s: connect: connection refused", net.JoinHostPort(host, port(p.TCPSocket.Port, c)))
	case p.GRPC != nil:
		return `service unhealthy (responded with "NOT_SERVING")`
	}
	return "simulated" // in place of the output of a command
}

// redirected is the message of an attempt that passes with a warning.
const redirected = "Probe terminated redirects, Response body: "

// port returns the number of a port that a container may have named.
func port(p intstr.IntOrString, c *corev1.Container) string {
	if i := slices.IndexFunc(c.Ports, func(has corev1.ContainerPort) bool { return has.Name == p.StrVal }); p.Type == intstr.String && i >= 0 {
		return strconv.Itoa(int(c.Ports[i].ContainerPort))
	}
	return p.String()
}
