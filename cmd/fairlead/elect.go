package main

import (
	"time"

	"fairlead.dev/client/leader"
	"github.com/spf13/pflag"
)

// electFlags are kube-controller-manager's for leader election.
type electFlags struct {
	on     bool
	timing leader.Timing
}

func (f *electFlags) register(flags *pflag.FlagSet, byDefault bool, what string) {
	flags.BoolVar(&f.on, "leader-elect", byDefault, what)
	flags.DurationVar(&f.timing.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "time after which other processes may take over a lease that is not renewed")
	flags.DurationVar(&f.timing.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "time after which a leader that cannot renew its lease stops")
	flags.DurationVar(&f.timing.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "pause between attempts to acquire or renew the lease")
}

// elect gives the timing, nil if there is no election.
func (f *electFlags) elect() (*leader.Timing, error) {
	if !f.on {
		return nil, nil
	}
	if err := f.timing.Check(); err != nil {
		return nil, usageError{err}
	}
	return &f.timing, nil
}

// registerPart is for the parts that run against any API server.
func (f *electFlags) registerPart(flags *pflag.FlagSet) {
	f.register(flags, true, "work only while holding the lease, so that several may run")
}
