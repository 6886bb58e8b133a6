package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/trace"
)

// queueMetrics shows the queues of this process's controllers and their reconciles, under the names of client-go and
// controller-runtime. A scrape counts the reconciles in the trace, each once.
type queueMetrics struct {
	log *trace.Log
	mu  struct {
		sync.Mutex
		next uint64 // the first reconcile that has not been counted
	}
	waited, worked *prometheus.HistogramVec
	reconciles     *prometheus.CounterVec
}

// queueBuckets are upstream's.
var queueBuckets = prometheus.ExponentialBuckets(10e-9, 10, 10)

var (
	ofQueue = []string{"name"}

	depthDesc      = prometheus.NewDesc("workqueue_depth", "How many keys wait for a worker.", ofQueue, nil)
	addsDesc       = prometheus.NewDesc("workqueue_adds_total", "How often a key was made ready.", ofQueue, nil)
	retriesDesc    = prometheus.NewDesc("workqueue_retries_total", "How often a key was made ready because it had failed.", ofQueue, nil)
	unfinishedDesc = prometheus.NewDesc("workqueue_unfinished_work_seconds", "How long all keys that are being worked on have been so, added up.", ofQueue, nil)
	longestDesc    = prometheus.NewDesc("workqueue_longest_running_processor_seconds", "How long the key that has been worked on longest has been so.", ofQueue, nil)
)

// NewQueueMetrics returns a collector of the controllers that report to a trace.
func NewQueueMetrics(l *trace.Log) *queueMetrics {
	return &queueMetrics{
		log: l,
		waited: histogramVec("workqueue_queue_duration_seconds",
			"How long keys waited for a worker, in seconds, from the first event that queued them.", queueBuckets, "name"),
		worked: histogramVec("workqueue_work_duration_seconds", "How long workers took for a key, in seconds.", queueBuckets, "name"),
		reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total",
			Help: "How many reconciles of this process have ended, by what came of them: success, requeue_after, conflict (tried again) or error.",
		}, []string{"controller", "result"}),
	}
}

func (m *queueMetrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.waited, m.worked, m.reconciles}
}

// Describe implements prometheus.Collector.
func (m *queueMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.each() {
		c.Describe(out)
	}
	for _, d := range []*prometheus.Desc{depthDesc, addsDesc, retriesDesc, unfinishedDesc, longestDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *queueMetrics) Collect(out chan<- prometheus.Metric) {
	m.count()
	for _, c := range m.each() {
		c.Collect(out)
	}
	for _, q := range m.log.Queues() {
		for _, one := range []struct {
			desc *prometheus.Desc
			kind prometheus.ValueType
			is   float64
		}{
			{depthDesc, prometheus.GaugeValue, float64(q.Depth)},
			{addsDesc, prometheus.CounterValue, float64(q.Adds)},
			{retriesDesc, prometheus.CounterValue, float64(q.Retries)},
			{unfinishedDesc, prometheus.GaugeValue, q.Unfinished.Seconds()},
			{longestDesc, prometheus.GaugeValue, q.Longest.Seconds()},
		} {
			out <- prometheus.MustNewConstMetric(one.desc, one.kind, one.is, q.Name)
		}
	}
}

// count counts the reconciles since the last call.
func (m *queueMetrics) count() {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ended []trace.Reconcile
	ended, m.mu.next = m.log.Reconciles(m.mu.next)
	for _, w := range ended {
		if w.Process != "" {
			continue // it has metrics of its own
		}
		if w.Handed != 0 {
			m.waited.WithLabelValues(w.Controller).Observe((time.Duration(w.Begun-w.Handed) - w.Delay).Seconds())
		}
		m.reconciles.WithLabelValues(w.Controller, result(&w)).Inc()
		m.worked.WithLabelValues(w.Controller).Observe(time.Duration(w.Ended - w.Begun).Seconds())
	}
}

// result returns the outcome of a reconcile.
func result(w *trace.Reconcile) string {
	switch {
	case w.Conflict:
		return "conflict"
	case w.Err != "":
		return "error"
	case w.After > 0:
		return "requeue_after"
	}
	return "success"
}
