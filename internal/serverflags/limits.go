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
	timeout       time.Duration
}

func (f *limits) register(set *pflag.FlagSet) {
	set.IntVar(&f.reads, "max-requests-inflight", 400, "limit on concurrent reads, not counting watches; others get 429; 0 for no limit")
	set.IntVar(&f.writes, "max-mutating-requests-inflight", 200, "limit on concurrent writes; others get 429; 0 for no limit")
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
	if f.timeout <= 0 {
		return fmt.Errorf("--request-timeout=%v: want more than 0", f.timeout)
	}
	l.RequestTimeout = f.timeout
	return nil
}
