package controlplane

import (
	"fairlead.dev/client"
	"fairlead.dev/scheduler"
	"github.com/prometheus/client_golang/prometheus"
)

// partMetrics count the work of the parts of the client side in this process, over all of their
// runs. Its zero value has no collectors.
type partMetrics struct {
	requests  *client.Metrics
	scheduler *scheduler.Metrics
}

// newPartMetrics returns the metrics of the parts that o asks for, registered.
func newPartMetrics(o Options, reg *prometheus.Registry) (m partMetrics, err error) {
	m.requests = client.NewMetrics()
	if err := reg.Register(m.requests); err != nil || !o.Scheduler {
		return m, err
	}
	m.scheduler = scheduler.NewMetrics()
	return m, reg.Register(m.scheduler)
}

// in returns the scheduler's options with its metrics.
func (m partMetrics) in(o scheduler.Options) scheduler.Options {
	o.Metrics = m.scheduler
	return o
}
