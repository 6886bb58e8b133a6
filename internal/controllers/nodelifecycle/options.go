package nodelifecycle

import (
	"cmp"
	"time"
)

// Options are the controller's time limits. The zero value has kube-controller-manager's defaults.
type Options struct {
	// Grace is the maximum time without a heartbeat. Zero means 50 s.
	Grace time.Duration
	// StartupGrace is the same for a node without conditions, from its creation on. Zero means 60 s.
	StartupGrace time.Duration
	// HonorLeases lengthens Grace for a node whose Lease has a longer leaseDurationSeconds, to that. Without it, as
	// upstream, the controller ignores leaseDurationSeconds.
	HonorLeases bool
	// Pace is the time between two nodes of a zone that are tainted NoExecute. It is ten times as long in a large
	// zone that is mostly NotReady. Zero means 10 s.
	Pace time.Duration
	// Version is the version of the control plane, such as v1.37.2. A node whose kubelet it does not support, by
	// Kubernetes' version skew policy, gets the event VersionSkew. "" means that no versions are compared.
	Version string
}

func (o Options) withDefaults() Options {
	o.Grace = cmp.Or(o.Grace, 50*time.Second)
	o.StartupGrace = cmp.Or(o.StartupGrace, 60*time.Second)
	o.Pace = cmp.Or(o.Pace, 10*time.Second)
	return o
}
