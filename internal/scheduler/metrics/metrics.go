package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the collectors of one scheduler. It is a prometheus.Collector.
type Metrics struct {
	attempts, incoming, incomingEntities       *prometheus.CounterVec
	attemptTook, pointTook, podTook            *prometheus.HistogramVec
	algorithmTook, podAttempts, victims        prometheus.Histogram
	pending, entities, cached, rejected        *prometheus.GaugeVec
	groupAttempts, groupPreemptions            *prometheus.CounterVec
	groupTook, groupAlgorithmTook              *prometheus.HistogramVec
	groupVictims, groupDisruptions             *prometheus.HistogramVec
	searchTook, evictionTook, placementTook    *prometheus.HistogramVec
	violations, placements, evaluated          *prometheus.CounterVec
	preemptions                                prometheus.Counter
	active, backoff, unschedulable, gated      gauges
	cachedNodes, cachedPods, cachedAssumedPods prometheus.Gauge
	calls                                      calls
	// entered and waiting are the series in use, so that a move of a pod looks up no labels.
	entered map[[2]string]entry
	waiting map[[2]string]prometheus.Gauge
}

// New returns Metrics without samples.
func New() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "scheduler", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "scheduler", Name: name, Help: help}, labels)
	}
	buckets := prometheus.ExponentialBuckets
	options := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "scheduler", Name: name, Help: help, Buckets: buckets}
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(options(name, help, buckets), labels)
	}
	m := &Metrics{
		attempts:         counter("schedule_attempts_total", "Attempts to place a pod, by result: scheduled, unschedulable or error.", "result", "profile"),
		incoming:         counter("queue_incoming_pods_total", "Pods that entered a queue, by the event that moved them.", "queue", "event"),
		incomingEntities: counter("queue_incoming_entities_total", "Pods that are not of a group, and pod groups, that entered a queue, by the event that moved them.", "queue", "event", "type"),
		attemptTook:      histogram("scheduling_attempt_duration_seconds", "Time of an attempt, with the binding if there was one, in seconds.", buckets(0.001, 2, 15), "result", "profile"),
		pointTook:        histogram("framework_extension_point_duration_seconds", "Time of all plugins of an extension point for a pod, in seconds.", buckets(0.0001, 2, 12), "extension_point", "status", "profile"),
		podTook:          histogram("pod_scheduling_sli_duration_seconds", "Time from the first attempt of a pod to its binding, in seconds, by the number of attempts.", buckets(0.01, 2, 20), "attempts"),
		pending:          gauge("pending_pods", "Pods without a node, by queue.", "queue"),
		entities:         gauge("queued_entities", "Pods that are not of a group, and pod groups, by queue.", "queue", "type"),
		cached:           gauge("cache_size", "Nodes, pods and assumed pods in the scheduler's model of the cluster.", "type"),
		rejected:         gauge("unschedulable_pods", "Pods that a plugin has rejected and that wait for an event.", "plugin", "profile"),
		algorithmTook: prometheus.NewHistogram(options("scheduling_algorithm_duration_seconds",
			"Time to choose a node for a pod, in seconds.", buckets(0.001, 2, 15))),
		podAttempts: prometheus.NewHistogram(options("pod_scheduling_attempts", "Attempts that bound pods have needed.", buckets(1, 2, 5))),
		victims:     prometheus.NewHistogram(options("preemption_victims", "Pods that a preemption chose to evict.", buckets(1, 2, 7))),
		preemptions: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "scheduler", Name: "preemption_attempts_total", Help: "Searches for a node that fits a pod after evictions.",
		}),
		calls:              newCalls(),
		groupAttempts:      counter("podgroup_schedule_attempts_total", "Attempts to place a pod group, by result: scheduled, unschedulable, waiting_on_preemption or error.", "result", "profile"),
		groupTook:          histogram("podgroup_scheduling_attempt_duration_seconds", "Time of an attempt to place a pod group, in seconds.", buckets(0.001, 2, 15), "result", "profile"),
		groupAlgorithmTook: histogram("podgroup_scheduling_algorithm_duration_seconds", "Time to choose the nodes of a pod group, in seconds.", buckets(0.001, 2, 15)),
		groupPreemptions:   counter("workload_preemption_attempts_total", "Searches for pods to preempt for a pod group, by result.", "result"),
		groupVictims:       histogram("workload_preemption_victims", "Pods that a preemption for a pod group chose to evict.", buckets(1, 2, 11)),
		groupDisruptions:   histogram("preemption_workload_disruptions", "Units of pod groups among the victims of a preemption: all pods of a group, or single pods of one whose pods are preempted one by one.", buckets(1, 2, 11), "preemptor"),
		searchTook:         histogram("preemption_evaluation_duration_seconds", "Time to find the victims of a preemption, in seconds.", buckets(0.001, 2, 16), "preemptor", "result"),
		evictionTook:       histogram("preemption_execution_duration_seconds", "Time to evict the victims of a preemption, in seconds.", buckets(0.001, 2, 16), "preemptor", "result"),
		violations:         counter("preemption_pdb_violations_total", "Violations of disruption budgets by preemptions.", "preemptor"),
		placements:         counter("generated_placements_total", "Topology domains in which pod groups might be placed.", "profile"),
		evaluated:          counter("placement_evaluations_total", "Attempts to place a pod group in a topology domain, by result: feasible or infeasible.", "result", "profile"),
		placementTook:      histogram("placement_evaluation_duration_seconds", "Time of an attempt to place a pod group in a topology domain, in seconds.", buckets(0.001, 2, 15), "result", "profile"),

		entered: map[[2]string]entry{},
		waiting: map[[2]string]prometheus.Gauge{},
	}
	for queue, of := range map[string]*gauges{Active: &m.active, Backoff: &m.backoff, Unschedulable: &m.unschedulable, Gated: &m.gated} {
		*of = gauges{m.pending.WithLabelValues(queue), m.entities.WithLabelValues(queue, group), m.entities.WithLabelValues(queue, alone)}
	}
	m.cachedNodes, m.cachedPods = m.cached.WithLabelValues("nodes"), m.cached.WithLabelValues("pods")
	m.cachedAssumedPods = m.cached.WithLabelValues("assumed_pods")
	return m
}

func (m *Metrics) each() []prometheus.Collector {
	return []prometheus.Collector{
		m.attempts, m.incoming, m.incomingEntities, m.attemptTook, m.pointTook, m.podTook, m.algorithmTook, m.podAttempts, m.victims,
		m.pending, m.entities, m.cached, m.rejected, m.preemptions, m.calls.total, m.calls.took, m.calls.pending,
		m.groupAttempts, m.groupTook, m.groupAlgorithmTook, m.groupPreemptions, m.groupVictims,
		m.groupDisruptions, m.searchTook, m.evictionTook, m.violations, m.placements, m.evaluated, m.placementTook,
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.each() {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range m.each() {
		c.Collect(out)
	}
}
