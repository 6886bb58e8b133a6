package externaljwt

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/status"
)

// metrics are those of kube-apiserver, under its names.
type metrics struct {
	lastFetch, dataTime prometheus.Gauge
	fetches, signatures *prometheus.CounterVec
	durations           *prometheus.HistogramVec
}

func newMetrics() metrics {
	const prefix = "apiserver_externaljwt_"
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, []string{"code"})
	}
	return metrics{
		lastFetch:  gauge("fetch_keys_success_timestamp", "Time of the last answer of the external signer with keys, in seconds since 1970."),
		dataTime:   gauge("fetch_keys_data_timestamp", "Time of the keys by the external signer's clock, in seconds since 1970."),
		fetches:    counter("fetch_keys_request_total", "Requests to the external signer for keys, by gRPC code."),
		signatures: counter("sign_request_total", "Tokens that the external signer was asked to sign, by gRPC code."),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "request_duration_seconds", Help: "Duration of requests to the external signer, by method and gRPC code.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"method", "code"}),
	}
}

// Collectors returns the metrics of the requests to the program.
func (s *Signer) Collectors() []prometheus.Collector {
	m := s.metrics
	return []prometheus.Collector{m.lastFetch, m.dataTime, m.fetches, m.signatures, m.durations}
}

// code returns the gRPC code of an error.
func code(err error) string {
	s, ok := status.FromError(err)
	if !ok {
		return "unknown-non-grpc"
	}
	return s.Code().String()
}

func (m metrics) took(method string, began time.Time, err error) {
	m.durations.WithLabelValues(method, code(err)).Observe(time.Since(began).Seconds())
}

func (m metrics) signed(err error) { m.signatures.WithLabelValues(code(err)).Inc() }

func (m metrics) fetched(err error) {
	m.fetches.WithLabelValues(code(err)).Inc()
	if err == nil {
		m.lastFetch.SetToCurrentTime()
	}
}

func (m metrics) of(t time.Time) { m.dataTime.Set(float64(t.UnixNano()) / 1e9) }
