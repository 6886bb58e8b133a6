package scheduler

import (
	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/scheduler/metrics"
)

// Metrics shows a scheduler to Prometheus under the names that kube-scheduler uses
// (scheduler_schedule_attempts_total and the others), so that existing dashboards work:
//
//	m := scheduler.NewMetrics()
//	registry.MustRegister(m)
//	s := scheduler.New(env, scheduler.Options{Metrics: m})
//
// It counts one scheduler at a time. Its methods may be called from any goroutine.
type Metrics struct{ counts *metrics.Metrics }

// NewMetrics returns Metrics without samples.
func NewMetrics() *Metrics { return &Metrics{metrics.New()} }

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) { m.counts.Describe(out) }

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) { m.counts.Collect(out) }

// measure stores the sizes of the queues and of the cluster's model for the next scrapes.
func (s *loop) measure() {
	sizes := s.queue.Sizes()
	sizes.Nodes, sizes.Pods, sizes.AssumedPods = s.cluster.Len(), s.cluster.NumPods(), len(s.assumed)
	sizes.PatchedPods = s.reports.unwritten()
	s.metrics.Set(sizes)
}
