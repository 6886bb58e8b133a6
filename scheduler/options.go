package scheduler

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// Options of a Scheduler; the zero value is kube-scheduler's default profile.
type Options struct {
	// Name is the schedulerName of the pods to place; default-scheduler if empty.
	Name string
	// Profile replaces DefaultProfile if it has any filter.
	Profile Profile
	// BindWorkers is how many bindings are posted at once; 32 if zero.
	BindWorkers int
	// ReportWorkers is how many pod conditions are written at once; 4 if zero.
	ReportWorkers int
	// NoPreemption leaves pods of lower priority alone.
	NoPreemption bool
}

func (o Options) complete() Options {
	o.Name = cmp.Or(o.Name, corev1.DefaultSchedulerName)
	if len(o.Profile.Filters) == 0 {
		o.Profile = DefaultProfile()
	}
	o.BindWorkers = cmp.Or(o.BindWorkers, 32)
	o.ReportWorkers = cmp.Or(o.ReportWorkers, 4)
	return o
}
