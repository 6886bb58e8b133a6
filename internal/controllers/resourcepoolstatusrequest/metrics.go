package resourcepoolstatusrequest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count answers by the driver whose pools were asked for, under the names of kube-controller-manager:
//
//	m := resourcepoolstatusrequest.NewMetrics()
//	registry.MustRegister(m)
//	run := resourcepoolstatusrequest.New(env, resourcepoolstatusrequest.Options{Metrics: m})
//
// Its methods may be called from any goroutine.
type Metrics struct {
	processed, errors *prometheus.CounterVec
	took              *prometheus.HistogramVec
}

// NewMetrics returns Metrics without samples.
func NewMetrics() *Metrics {
	const subsystem = "resourcepoolstatusrequest_controller"
	byDriver := []string{"driver_name"}
	return &Metrics{
		processed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "requests_processed_total", Help: "Answers to ResourcePoolStatusRequests, with those that could not be written.",
		}, byDriver),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "request_processing_errors_total", Help: "Answers to ResourcePoolStatusRequests that could not be written.",
		}, byDriver),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Subsystem: subsystem, Name: "request_processing_duration_seconds", Help: "How long it took to answer a ResourcePoolStatusRequest, in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, byDriver),
	}
}

func (m *Metrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.processed, m.errors, m.took}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.each() {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.each() {
		c.Collect(to)
	}
}

// answered counts an answer that was written, or could not be for err.
func (m *Metrics) answered(driver string, begun time.Time, err error) {
	m.took.WithLabelValues(driver).Observe(time.Since(begun).Seconds())
	m.processed.WithLabelValues(driver).Inc()
	if err != nil {
		m.errors.WithLabelValues(driver).Inc()
	}
}
