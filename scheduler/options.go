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
	// Profiles, each with a name of its own; DefaultProfile if empty.
	Profiles []framework.Profile
	// PodInitialBackoff is the wait of a pod after its first failed attempt, and PodMaxBackoff the
	// longest wait, after doubling with each attempt; 1 s and 10 s if zero.
	PodInitialBackoff, PodMaxBackoff time.Duration
	// Extenders are asked about pods in this order; LoadConfig makes them.
	Extenders []*Extender
	// Less orders the pods that are ready to be tried: whether a comes before b. By priority, then by waiting time, if nil.
	Less func(a, b *QueuedPodInfo) bool
	// Attach is called by New with the means by which plugins of another framework act on the scheduler; see Attachment.
	Attach func(Attachment)
	// Document is the configuration that LoadConfig has read, with all defaults, as JSON; empty without one.
	Document []byte
	// Notes are logged once by New: the settings of a configuration that have no effect.
	Notes []string
	// BindWorkers is how many bindings are posted concurrently; 32 if zero.
	BindWorkers int
	// ReportWorkers is how many pod conditions are written concurrently; 4 if zero.
	ReportWorkers int
	// FeatureGates are the server's feature gates of Kubernetes by name, such as
	// DynamicResourceAllocation; one that is not there has its default in Kubernetes 1.37.
	FeatureGates map[string]bool
	// Metrics counts the scheduler's work; one that is not shown if nil.
	Metrics *Metrics
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
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
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
