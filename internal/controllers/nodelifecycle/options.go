package nodelifecycle

import (
	"cmp"
	"time"
)

// Options are the times that the controller goes by. The zero value is
// kube-controller-manager's.
type Options struct {
	// Grace is how long a node may be silent. Zero means 50 s.
	Grace time.Duration
	// StartupGrace is the same for a node that has never said how it is, from its
	// creation on. Zero means 60 s.
	StartupGrace time.Duration
	// Pace is the time between two nodes of a zone that are tainted NoExecute. It
	// is ten times as long in a large zone most of which is not ready. Zero means
	// 10 s.
	Pace time.Duration
}

func (o Options) withDefaults() Options {
	o.Grace = cmp.Or(o.Grace, 50*time.Second)
	o.StartupGrace = cmp.Or(o.StartupGrace, 60*time.Second)
	o.Pace = cmp.Or(o.Pace, 10*time.Second)
	return o
}
