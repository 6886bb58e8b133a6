package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/workqueue"
)

// Metrics exports the metrics of controllers and their queues to Prometheus, under the names of controller-runtime
// (controller_runtime_reconcile_total and the others) and of package workqueue, so that existing dashboards work.
// One Metrics serves any number of controllers of different names. It is safe for concurrent use.
type Metrics struct {
	queues                   *workqueue.Metrics
	total                    *prometheus.CounterVec
	errors, terminal, panics *prometheus.CounterVec
	took                     *prometheus.HistogramVec
	workers, active          *prometheus.GaugeVec
}

// NewMetrics returns Metrics without controllers.
func NewMetrics() *Metrics {
	const sub = "controller_runtime"
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: sub, Name: name, Help: help}, append([]string{"controller"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: sub, Name: name, Help: help}, []string{"controller"})
	}
	return &Metrics{
		queues:   workqueue.NewMetrics(),
		total:    counter("reconcile_total", "Reconciles, by result", "result"),
		errors:   counter("reconcile_errors_total", "Reconciles that ended with an error other than a conflict of resource versions"),
		terminal: counter("terminal_reconcile_errors_total", "Reconciles that ended with an error that is not retried"),
		panics:   counter("reconcile_panics_total", "How many reconciles panicked"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: sub, Name: "reconcile_time_seconds",
			Help: "How long reconciles took",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
				1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60}}, []string{"controller"}),
		workers: gauge("max_concurrent_reconciles", "How many reconciles may run at once"),
		active:  gauge("active_workers", "How many reconciles are running"),
	}
}

func (m *Metrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.queues, m.total, m.errors, m.terminal, m.panics, m.took, m.workers, m.active}
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

// meter is the Metrics of one controller. The methods of a nil meter have no effect.
type meter struct {
	results                  map[outcome]prometheus.Counter
	errors, terminal, panics prometheus.Counter
	took                     prometheus.Observer
	active                   prometheus.Gauge
}

// outcome is the result of a reconcile.
type outcome string

const (
	succeeded outcome = "success"
	failed    outcome = "error"
	conflict  outcome = "conflict" // controller-runtime counts them as errors
	later     outcome = "requeue_after"
)

func (m *Metrics) of(controller string, workers int) *meter {
	if m == nil {
		return nil
	}
	m.workers.WithLabelValues(controller).Set(float64(workers))
	x := &meter{
		results:  map[outcome]prometheus.Counter{},
		errors:   m.errors.WithLabelValues(controller),
		terminal: m.terminal.WithLabelValues(controller),
		panics:   m.panics.WithLabelValues(controller),
		took:     m.took.WithLabelValues(controller),
		active:   m.active.WithLabelValues(controller),
	}
	for _, o := range []outcome{succeeded, failed, conflict, later} {
		x.results[o] = m.total.WithLabelValues(controller, string(o))
	}
	return x
}

// begin counts the start of a reconcile, and returns the function to call at its end.
func (x *meter) begin() func(res Result, err error) {
	if x == nil {
		return func(Result, error) {}
	}
	begun := time.Now()
	x.active.Inc()
	return func(res Result, err error) {
		x.active.Dec()
		x.took.Observe(time.Since(begun).Seconds())
		switch {
		case isConflict(err):
			x.results[conflict].Inc()
		case err != nil:
			x.results[failed].Inc()
			x.errors.Inc()
			if isTerminal(err) {
				x.terminal.Inc()
			}
		case res.RequeueAfter > 0:
			x.results[later].Inc()
		default:
			x.results[succeeded].Inc()
		}
	}
}

func (x *meter) panicked() {
	if x != nil {
		x.panics.Inc()
	}
}
