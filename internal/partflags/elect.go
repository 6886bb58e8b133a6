package partflags

import (
	"time"

	"fairlead.dev/client/leader"
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
