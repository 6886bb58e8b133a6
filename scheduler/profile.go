package scheduler

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Profile is how the pods of one schedulerName are placed. The filters and scores may be
// the caller's own: see Filter, Reserver and Score.
type Profile struct {
	// Name is the schedulerName of the pods to place; default-scheduler if empty.
	Name string
	// Filters say which nodes can run a pod; those of DefaultProfile if there are none. They
	// are asked in this order, and the first that says no is the one that is told.
	Filters []Filter
	Scores  []WeightedScore
	// Percent is the share of nodes that are looked for before the best of them is taken:
	// 100 is all, 0 a share that falls as the cluster grows, from all of a hundred nodes to
	// a twentieth of many thousands.
	Percent int
	// NoPreemption leaves pods of lower priority alone.
	NoPreemption bool
	// Candidates are the nodes on which room is tried to be made before the best of them is
	// taken: this share of all in percent, but at least so many; 10 and 100 if both are zero.
	CandidatesPercent, CandidatesLeast int
}

func (p Profile) complete() Profile {
	p.Name = cmp.Or(p.Name, corev1.DefaultSchedulerName)
	if p.CandidatesPercent == 0 && p.CandidatesLeast == 0 {
		p.CandidatesPercent, p.CandidatesLeast = 10, 100
	}
	if len(p.Filters) == 0 {
		p.Filters, p.Scores = DefaultProfile().Filters, DefaultProfile().Scores
	}
	return p
}

// enough is how many fitting nodes make a fair choice.
func (p *Profile) enough(nodes int) int {
	if nodes < 100 || p.Percent >= 100 {
		return nodes
	}
	percent := p.Percent
	if percent == 0 {
		percent = max(50-nodes/125, 5)
	}
	return max(nodes*percent/100, 100)
}

// DefaultProfile has the filters, scores and weights of kube-scheduler's default
// profile. The slices are the caller's.
func DefaultProfile() Profile {
	p, err := newProfile(profileConfig{}, defaultArgs())
	if err != nil {
		panic(err)
	}
	return p
}

// Options of a Scheduler; the zero value is kube-scheduler's default configuration.
type Options struct {
	// Profiles by name, of which there may be one each; one that is DefaultProfile if empty.
	Profiles []Profile
	// FirstBackoff is how long a pod waits that was tried once in vain, and LastBackoff how
	// long at most, doubling in between; 1 s and 10 s if zero.
	FirstBackoff, LastBackoff time.Duration
	// BindWorkers is how many bindings are posted at once; 32 if zero.
	BindWorkers int
	// ReportWorkers is how many pod conditions are written at once; 4 if zero.
	ReportWorkers int
}

func (o Options) complete() Options {
	if len(o.Profiles) == 0 {
		o.Profiles = []Profile{DefaultProfile()}
	}
	o.Profiles = slices.Clone(o.Profiles)
	for i := range o.Profiles {
		o.Profiles[i] = o.Profiles[i].complete()
	}
	o.FirstBackoff = cmp.Or(o.FirstBackoff, firstBackoff)
	o.LastBackoff = cmp.Or(o.LastBackoff, lastBackoff)
	o.BindWorkers = cmp.Or(o.BindWorkers, 32)
	o.ReportWorkers = cmp.Or(o.ReportWorkers, 4)
	return o
}
