package serverflags

import (
	"fmt"
	"time"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// limits has the limits of requests, in which 0 is no limit.
type limits struct {
	reads, writes int
	fairness      bool
	timeout       time.Duration
}

func (f *limits) register(set *pflag.FlagSet) {
	set.BoolVar(&f.fairness, "enable-priority-and-fairness", true, "divide the limits on concurrent requests among priority levels, in whose queues requests wait before they get 429")
	set.IntVar(&f.reads, "max-requests-inflight", 400, "limit on concurrent reads, not counting watches; its sum with that on writes is divided among priority levels; without these others get 429, and 0 is no limit")
	set.IntVar(&f.writes, "max-mutating-requests-inflight", 200, "limit on concurrent writes; see --max-requests-inflight")
	set.DurationVar(&f.timeout, "request-timeout", time.Minute, "time limit of a request, not of watches; beyond it the request gets 504")
}

func (f *limits) complete(l *controlplane.Limits) error {
	for _, limit := range []struct {
		name string
		n    int
		set  *int
	}{{"max-requests-inflight", f.reads, &l.MaxReads}, {"max-mutating-requests-inflight", f.writes, &l.MaxWrites}} {
		switch {
		case limit.n < 0:
			return fmt.Errorf("--%s=%d: want 0 or more", limit.name, limit.n)
		case limit.n == 0:
			*limit.set = -1
		default:
			*limit.set = limit.n
		}
	}
	if l.NoFairness = !f.fairness; f.fairness && f.reads == 0 && f.writes == 0 {
		return fmt.Errorf("--max-requests-inflight=0 and --max-mutating-requests-inflight=0: one must be more than 0, or set --enable-priority-and-fairness=false")
	}
	if f.timeout <= 0 {
		return fmt.Errorf("--request-timeout=%v: want more than 0", f.timeout)
	}
	l.RequestTimeout = f.timeout
	return nil
}
