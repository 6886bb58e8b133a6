package audit

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Metrics collects upstream's counters of events, levels, refused requests and failures of backends. They are those of all
// Auditors of the process.
type Metrics struct{}

// metricsPrefix begins the names of upstream's counters.
const metricsPrefix = "apiserver_audit_"

// Describe implements prometheus.Collector. The counters are not known before they are collected.
func (Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (Metrics) Collect(out chan<- prometheus.Metric) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		out <- prometheus.NewInvalidMetric(prometheus.NewDesc(metricsPrefix+"metrics", "", nil, nil), err)
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), metricsPrefix) || f.GetType() != dto.MetricType_COUNTER {
			continue
		}
		for _, m := range f.GetMetric() {
			var names, values []string
			for _, l := range m.GetLabel() {
				names, values = append(names, l.GetName()), append(values, l.GetValue())
			}
			desc := prometheus.NewDesc(f.GetName(), f.GetHelp(), names, nil)
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, m.GetCounter().GetValue(), values...)
		}
	}
}
