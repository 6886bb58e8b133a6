package partflags

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	configv1alpha1 "k8s.io/component-base/config/v1alpha1"

	"fairlead.dev/client/leader"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/serverflags"
)

// Elect has the flags that are kube-controller-manager's for leader election.
type Elect struct {
	On     bool
	timing leader.Timing
}

// Register adds the flags.
func (f *Elect) Register(flags *pflag.FlagSet, byDefault bool, what string) {
	flags.BoolVar(&f.On, leaderElect, byDefault, what)
	flags.DurationVar(&f.timing.LeaseDuration, leaseDuration, 15*time.Second, "time after which other processes may take over a lease that is not renewed")
	flags.DurationVar(&f.timing.RenewDeadline, renewDeadline, 10*time.Second, "time after which a leader that cannot renew its lease stops")
	flags.DurationVar(&f.timing.RetryPeriod, retryPeriod, 2*time.Second, "pause between attempts to acquire or renew the lease")
}

// The flags that a configuration file can replace.
const (
	leaderElect    = "leader-elect"
	leaseDuration  = "leader-elect-lease-duration"
	renewDeadline  = "leader-elect-renew-deadline"
	retryPeriod    = "leader-elect-retry-period"
	leaseName      = "leader-elect-resource-name"
	leaseNamespace = "leader-elect-resource-namespace"
)

// Complete sets the flags that were not given to the settings of a configuration, in JSON and with all defaults; document is empty
// if there is no configuration.
func (f *Candidate) Complete(flags *pflag.FlagSet, document []byte) error {
	if len(document) == 0 {
		return nil
	}
	var file struct {
		LeaderElection configv1alpha1.LeaderElectionConfiguration `json:"leaderElection"`
	}
	if err := json.Unmarshal(document, &file); err != nil {
		return err
	}
	of := &file.LeaderElection
	for name, set := range map[string]func(){
		leaderElect:    func() { f.On = *of.LeaderElect },
		leaseDuration:  func() { f.timing.LeaseDuration = of.LeaseDuration.Duration },
		renewDeadline:  func() { f.timing.RenewDeadline = of.RenewDeadline.Duration },
		retryPeriod:    func() { f.timing.RetryPeriod = of.RetryPeriod.Duration },
		leaseName:      func() { f.Lease.Name = of.ResourceName },
		leaseNamespace: func() { f.Lease.Namespace = of.ResourceNamespace },
	} {
		if !flags.Changed(name) {
			set()
		}
	}
	return nil
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
	// Lease is the lease that the part holds.
	Lease     types.NamespacedName
	emulation serverflags.Emulation
}

// Register adds the flags; lease is the usual name of the lease. Of the gates that of the election can be switched, and others of the
// part: the rest follow the server.
func (f *Candidate) Register(flags *pflag.FlagSet, lease string, others ...string) {
	f.RegisterPart(flags)
	flags.StringVar(&f.Lease.Name, leaseName, lease, "name of the lease")
	flags.StringVar(&f.Lease.Namespace, leaseNamespace, metav1.NamespaceSystem, "namespace of the lease")
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
