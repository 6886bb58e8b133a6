package serverflags

import (
	"errors"
	"time"

	"fairlead.dev/client/leader"
	"github.com/spf13/pflag"
)

// registerElections registers the flags of the Lease of the API server that elects the holders of others.
func registerElections(set *pflag.FlagSet, t *leader.Timing) {
	const of = " the Lease of the server that elects the holders of others (feature gate CoordinatedLeaderElection)"
	set.DurationVar(&t.LeaseDuration, "coordinated-leadership-lease-duration", 15*time.Second, "time after which another server may take"+of)
	set.DurationVar(&t.RenewDeadline, "coordinated-leadership-renew-deadline", 10*time.Second, "time after which a server stops that cannot renew"+of)
	set.DurationVar(&t.RetryPeriod, "coordinated-leadership-retry-period", 2*time.Second, "pause between attempts to acquire or renew"+of)
}

// checkElections checks them, with kube-apiserver's errors where it has some.
func checkElections(t leader.Timing) error {
	switch {
	case t.LeaseDuration <= t.RenewDeadline:
		return errors.New("--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline")
	case t.RenewDeadline <= t.RetryPeriod:
		return errors.New("--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period")
	case t.LeaseDuration < time.Second || t.RetryPeriod <= 0 || t.RenewDeadline <= 0:
		return errors.New("--coordinated-leadership-lease-duration must be at least a second, and the other --coordinated-leadership flags more than 0")
	}
	return nil
}
