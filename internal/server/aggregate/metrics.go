package aggregate

import "github.com/prometheus/client_golang/prometheus"

// metrics are kube-aggregator's metrics of API services, under its names.
type metrics struct {
	unavailable *prometheus.Desc // 1 or 0 for each
	fell        *prometheus.CounterVec
}

func newMetrics() metrics {
	return metrics{
		unavailable: prometheus.NewDesc("aggregator_unavailable_apiservice", "Whether the API service is not available.", []string{"name"}, nil),
		fell: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aggregator_unavailable_apiservice_total", Help: "Times an available API service became unavailable, by reason.",
		}, []string{"name", "reason"}),
	}
}

// Describe implements prometheus.Collector.
func (s *Services) Describe(ch chan<- *prometheus.Desc) {
	ch <- s.metrics.unavailable
	s.metrics.fell.Describe(ch)
}

// Collect implements prometheus.Collector.
func (s *Services) Collect(ch chan<- prometheus.Metric) {
	s.metrics.fell.Collect(ch)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, k := range s.mu.known {
		value := 1.0
		if k.available {
			value = 0
		}
		ch <- prometheus.MustNewConstMetric(s.metrics.unavailable, prometheus.GaugeValue, value, name)
	}
}
