package controlplane

import (
	"fairlead.dev/client"
	"fairlead.dev/scheduler"
	"github.com/prometheus/client_golang/prometheus"
)

// partMetrics count the work of the parts of the client side in this process, over all of their
// runs.
type partMetrics struct {
	requests  *client.Metrics
	scheduler *scheduler.Metrics
}

func newPartMetrics() partMetrics { return partMetrics{client.NewMetrics(), scheduler.NewMetrics()} }

// register registers the metrics of the parts that o asks for.
func (m partMetrics) register(o Options, reg *prometheus.Registry) error {
	if err := reg.Register(m.requests); err != nil || !o.Scheduler {
		return err
	}
	return reg.Register(m.scheduler)
}

// in returns the scheduler's options with its metrics.
func (m partMetrics) in(o scheduler.Options) scheduler.Options {
	o.Metrics = m.scheduler
	return o
}
