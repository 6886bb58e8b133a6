package controlplane

import (
	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/resourcepoolstatusrequest"
	"fairlead.dev/internal/controllers/selinuxwarning"
	"fairlead.dev/internal/nodegroups"
	"fairlead.dev/scheduler"
	"github.com/prometheus/client_golang/prometheus"
)

// partMetrics count the work of the parts of the client side in this process, over all of their
// runs.
type partMetrics struct {
	requests  *client.Metrics
	scheduler *scheduler.Metrics
	groups    *nodegroups.Metrics
	pools     *resourcepoolstatusrequest.Metrics
	labels    *selinuxwarning.Conflicts
}

func newPartMetrics() partMetrics {
	return partMetrics{
		client.NewMetrics(), scheduler.NewMetrics(), nodegroups.NewMetrics(), resourcepoolstatusrequest.NewMetrics(), selinuxwarning.NewConflicts(),
	}
}

// register registers the metrics of the parts that o asks for.
func (m partMetrics) register(o Options, reg *prometheus.Registry) error {
	for _, c := range []prometheus.Collector{m.requests, m.pools, m.labels} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	if o.Scheduler {
		if err := reg.Register(m.scheduler); err != nil {
			return err
		}
	}
	if o.NodeGroups == nil {
		return nil
	}
	return reg.Register(m.groups)
}

// of returns the options of node groups, which may be nil, with their metrics.
func (m partMetrics) of(o *nodegroups.Options) *nodegroups.Options {
	if o == nil {
		return nil
	}
	with := *o
	with.Metrics = m.groups
	return &with
}

// in returns the scheduler's options with its metrics.
func (m partMetrics) in(o scheduler.Options) scheduler.Options {
	o.Metrics = m.scheduler
	return o
}
