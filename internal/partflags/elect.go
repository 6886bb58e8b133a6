package partflags

import (
	"slices"
	"time"

	"fairlead.dev/client/leader"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/serverflags"
	"github.com/spf13/pflag"
)

// Elect has the flags that are kube-controller-manager's for leader election.
type Elect struct {
	On     bool
	timing leader.Timing
}

// Register adds the flags.
func (f *Elect) Register(flags *pflag.FlagSet, byDefault bool, what string) {
	flags.BoolVar(&f.On, "leader-elect", byDefault, what)
	flags.DurationVar(&f.timing.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "time after which other processes may take over a lease that is not renewed")
	flags.DurationVar(&f.timing.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "time after which a leader that cannot renew its lease stops")
	flags.DurationVar(&f.timing.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "pause between attempts to acquire or renew the lease")
}

// Timing returns the timing, nil if there is no election.
func (f *Elect) Timing() (*leader.Timing, error) {
	if !f.On {
		return nil, nil
	}
	if err := f.timing.Check(); err != nil {
		return nil, UsageError{err}
	}
	return &f.timing, nil
}

// RegisterPart is for the parts that run against any API server.
func (f *Elect) RegisterPart(flags *pflag.FlagSet) {
	f.Register(flags, true, "work only while holding the lease, so that several may run")
}

// Candidate has the flags of a part that is a candidate of a coordinated election.
type Candidate struct {
	Elect
	emulation serverflags.Emulation
}

// Register adds the flags. Of the gates that of the election can be switched, and others of the part: the rest follow the server.
func (f *Candidate) Register(flags *pflag.FlagSet, others ...string) {
	f.RegisterPart(flags)
	f.emulation.Register(flags, func(gate string) bool {
		return gate == "CoordinatedLeaderElection" || slices.Contains(others, gate)
	})
}

// API returns the version and the gates of the part.
func (f *Candidate) API() (gates.API, error) {
	api, err := f.emulation.API()
	if err != nil {
		return api, UsageError{err}
	}
	return api, nil
}
