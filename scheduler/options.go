package scheduler

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/config"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// Options of a Scheduler; the zero value is kube-scheduler's default configuration.
type Options struct {
	// Profiles by name, of which there may be one each; one that is DefaultProfile if empty.
	Profiles []framework.Profile
	// PodInitialBackoff is how long a pod waits that was tried once in vain, and LastBackoff how
	// long at most, doubling in between; 1 s and 10 s if zero.
	PodInitialBackoff, PodMaxBackoff time.Duration
	// BindWorkers is how many bindings are posted at once; 32 if zero.
	BindWorkers int
	// ReportWorkers is how many pod conditions are written at once; 4 if zero.
	ReportWorkers int
}

func (o Options) complete() Options {
	if len(o.Profiles) == 0 {
		o.Profiles = []framework.Profile{config.DefaultProfile()}
	}
	o.Profiles = slices.Clone(o.Profiles)
	for i := range o.Profiles {
		o.Profiles[i] = completeProfile(o.Profiles[i])
	}
	o.PodInitialBackoff = cmp.Or(o.PodInitialBackoff, queue.DefaultInitialBackoff)
	o.PodMaxBackoff = cmp.Or(o.PodMaxBackoff, queue.DefaultMaxBackoff)
	o.BindWorkers = cmp.Or(o.BindWorkers, 32)
	o.ReportWorkers = cmp.Or(o.ReportWorkers, 4)
	return o
}

func completeProfile(p framework.Profile) framework.Profile {
	p.Name = cmp.Or(p.Name, corev1.DefaultSchedulerName)
	if p.MinCandidateNodesPercentage == 0 && p.MinCandidateNodesAbsolute == 0 {
		p.MinCandidateNodesPercentage, p.MinCandidateNodesAbsolute = 10, 100
	}
	if len(p.Filters) == 0 {
		p.Filters, p.Scores = config.DefaultProfile().Filters, config.DefaultProfile().Scores
	}
	return p
}
