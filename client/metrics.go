package client

import (
	"context"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics shows the requests of clients to Prometheus under the names that Kubernetes'
// own components use (rest_client_requests_total and the others), so that existing
// dashboards work:
//
//	m := client.NewMetrics()
//	registry.MustRegister(m)
//	c, err := client.New(cfg, client.Options{Observe: m.Observe})
//
// Several clients may share one. It is safe for concurrent use.
type Metrics struct {
	requests, retries                       *prometheus.CounterVec
	took, waited, requestSize, responseSize *prometheus.HistogramVec
	// series are those in use, by exchangeKind, so that an exchange looks up no labels.
	series sync.Map // exchangeKind -> *exchangeSeries
}

// exchangeKind is the set of labels under which an exchange is counted.
type exchangeKind struct {
	method, host string
	code         int
}

// exchangeSeries counts the exchanges of a kind.
type exchangeSeries struct {
	requests                                prometheus.Counter
	took, waited, requestSize, responseSize prometheus.Observer
}

// NewMetrics returns empty Metrics.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"verb", "host"})
	}
	seconds := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	bytes := []float64{64, 256, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}
	return &Metrics{
		requests:     counter("rest_client_requests_total", "How many requests were sent, by the code of the answer", "code", "method", "host"),
		retries:      counter("rest_client_request_retries_total", "How many of them were sent again", "code", "verb", "host"),
		took:         histogram("rest_client_request_duration_seconds", "How long requests took until their answer was read, or a stream began", seconds),
		waited:       histogram("rest_client_rate_limiter_duration_seconds", "How long requests waited for the client's own rate limiter", seconds),
		requestSize:  histogram("rest_client_request_size_bytes", "How large the bodies of requests were", bytes),
		responseSize: histogram("rest_client_response_size_bytes", "How large the bodies of answers were", bytes),
	}
}

// Observe counts x. It is made for Options.Observe.
func (m *Metrics) Observe(_ context.Context, x Exchange) {
	s := m.of(exchangeKind{x.Method, x.Host, x.Code})
	s.requests.Inc()
	if x.Attempt > 0 {
		m.retries.WithLabelValues(codeLabel(x.Code), x.Method, x.Host).Inc()
	}
	s.took.Observe(x.Took.Seconds())
	s.waited.Observe(x.Waited.Seconds())
	s.requestSize.Observe(float64(x.Sent))
	if x.Received > 0 {
		s.responseSize.Observe(float64(x.Received))
	}
}

// of returns the series of a kind.
func (m *Metrics) of(k exchangeKind) *exchangeSeries {
	if s, ok := m.series.Load(k); ok {
		return s.(*exchangeSeries)
	}
	s, _ := m.series.LoadOrStore(k, &exchangeSeries{
		requests:     m.requests.WithLabelValues(codeLabel(k.code), k.method, k.host),
		took:         m.took.WithLabelValues(k.method, k.host),
		waited:       m.waited.WithLabelValues(k.method, k.host),
		requestSize:  m.requestSize.WithLabelValues(k.method, k.host),
		responseSize: m.responseSize.WithLabelValues(k.method, k.host),
	})
	return s.(*exchangeSeries)
}

// codeLabel is the label of the code of an answer; 0 stands for no answer.
func codeLabel(code int) string {
	if code == 0 {
		return "<error>" // as upstream writes it
	}
	return strconv.Itoa(code)
}

func (m *Metrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.retries, m.took, m.waited, m.requestSize, m.responseSize}
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
