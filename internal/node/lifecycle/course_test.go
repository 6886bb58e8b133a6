package lifecycle

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestCourses compares the counts of attempts with those of a kubelet that makes one after the other.
func TestCourses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seconds := func(n int) time.Duration { return time.Duration(random.IntN(n)) * time.Second }
	for range 5000 {
		one := func() *probe {
			if random.IntN(4) == 0 {
				return nil
			}
			p := &probe{delay: seconds(20), period: time.Second + seconds(9), successes: 1, failing: 1 + random.IntN(3)}
			p.probeOutcome = probeOutcome{first: random.IntN(2) == 0, turns: seconds(60)}
			if random.IntN(3) == 0 {
				p.turns = -1
			}
			return p
		}
		p := probes{one(), one(), one()}
		until := seconds(120)
		got, want := p.courses(), model(p, until)
		for kind := range got {
			if n := got[kind].count(until); n != want[kind].attempts {
				t.Fatalf("%s probe of %+v until %v: %+v, want %+v", probeNames[kind], p, until, n, want[kind].attempts)
			}
			at, ok := got[kind].nextTold(until)
			later := model(p, at)[kind]
			if ok && (at <= until || later.failed != want[kind].failed+1 || model(p, at-1)[kind].failed != want[kind].failed) {
				t.Fatalf("%s probe of %+v after %v: the next failure is not at %v", probeNames[kind], p, until, at)
			}
			if !ok && model(p, until+10*time.Minute)[kind].failed != want[kind].failed {
				t.Fatalf("%s probe of %+v after %v: it fails again", probeNames[kind], p, until)
			}
			if got[kind].kills && until >= got[kind].last && !want[kind].killed {
				t.Fatalf("%s probe of %+v until %v does not end the container", probeNames[kind], p, until)
			}
		}
	}
}

// tried are the results of a probe, and whether its last attempt ends the container.
type tried struct {
	attempts
	killed bool
}

// model makes attempts until a time.
func model(p probes, until time.Duration) (all [probeKinds]tried) {
	from := time.Duration(0)
	for kind, probe := range []*probe{p.startup, p.readiness, p.liveness} {
		if probe == nil {
			continue
		}
		failed, over := 0, kind == startup
		for at := max(from, probe.delay); at <= until; at += probe.period {
			passes := probe.first
			if probe.turns >= 0 && at >= probe.turns {
				passes = !passes
			}
			if passes {
				all[kind].passed++
				failed = 0
			} else {
				all[kind].failed++
				failed++
			}
			if kind == startup && passes {
				from, over = at, false
				break
			}
			if kind != readiness && failed == probe.failing {
				all[kind].killed = true
				break
			}
		}
		if over {
			return all // the container has not started
		}
	}
	return all
}
