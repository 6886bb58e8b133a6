package scheduler

import "fairlead.dev/internal/scheduler/metrics"

// Metrics shows a scheduler to Prometheus under the names that kube-scheduler uses
// (scheduler_schedule_attempts_total and the others), so that existing dashboards work:
//
//	m := scheduler.NewMetrics()
//	registry.MustRegister(m)
//	s := scheduler.New(env, scheduler.Options{Metrics: m})
//
// It counts one scheduler.
type Metrics = metrics.Metrics

// NewMetrics returns Metrics without samples.
func NewMetrics() *Metrics { return metrics.New() }

// measure stores the sizes of the queues and of the cluster's model for the next scrapes.
func (s *Scheduler) measure() {
	sizes := s.queue.Sizes()
	sizes.Nodes, sizes.Pods, sizes.AssumedPods = s.cluster.Len(), s.cluster.NumPods(), len(s.assumed)
	s.metrics.Set(sizes)
}
