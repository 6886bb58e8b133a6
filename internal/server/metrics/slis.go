package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fairlead.dev/internal/procstart"
)

// SLIs are the metrics of /metrics/slis: outcomes of health checks, under kube-apiserver's
// names.
type SLIs struct {
	Handler http.Handler
	last    *prometheus.GaugeVec
	total   *prometheus.CounterVec
}

// NewSLIs makes the collectors, in a registry of their own.
func NewSLIs() SLIs {
	s := SLIs{
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_healthcheck", Help: "Whether a health check succeeded when it was last asked.",
		}, []string{"name", "type"}),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_healthchecks_total", Help: "Answers of health checks.",
		}, []string{"name", "type", "status"}),
	}
	start := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "process_start_time_seconds", Help: "Start time of the process since unix epoch in seconds.",
	}, func() float64 { return float64(procstart.Time().UnixMilli()) / 1000 })
	reg := prometheus.NewRegistry()
	reg.MustRegister(s.last, s.total, start)
	s.Handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	return s
}

// Observe records the outcome of a check.
func (s SLIs) Observe(name, kind string, err error) {
	value, status := 1.0, "success"
	if err != nil {
		value, status = 0, "error"
	}
	s.last.WithLabelValues(name, kind).Set(value)
	s.total.WithLabelValues(name, kind, status).Inc()
}
