package policy

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/server/admission/expr"
)

// Metrics shows what validating policies say, under upstream's names: each validation that
// fails, once for each thing that its binding does about it, and each that cannot be
// evaluated and is let be. Those that pass are not counted.
type Metrics struct {
	checks *prometheus.CounterVec
	took   *prometheus.HistogramVec
}

// NewMetrics returns Metrics of nothing.
func NewMetrics() *Metrics {
	labels := []string{"policy", "policy_binding", "error_type", "enforcement_action"}
	return &Metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_validating_admission_policy_check_total", Help: "Validations of policies that failed, by what was done about it.",
		}, labels),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_validating_admission_policy_check_duration_seconds", Help: "How long those validations took, in seconds.",
			Buckets: []float64{0.0000005, 0.001, 0.01, 0.1, 1},
		}, labels),
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) { m.checks.Describe(out); m.took.Describe(out) }

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) { m.checks.Collect(out); m.took.Collect(out) }

// allowed is what is done about a validation that cannot be evaluated, by a policy whose
// failures don't count.
const allowed admissionv1.ValidationAction = "Allow"

// checked counts a validation that failed and what was done about it.
func (m *Metrics) checked(policy, binding string, err error, action admissionv1.ValidationAction, took time.Duration) {
	if m == nil {
		return
	}
	labels := []string{policy, binding, errorType(err), strings.ToLower(string(action))}
	m.checks.WithLabelValues(labels...).Inc()
	m.took.WithLabelValues(labels...).Observe(took.Seconds())
}

// errorType is how upstream sorts failures, by their text; what has been evaluated and says
// no is of the last sort too.
func errorType(err error) string {
	switch text := err.Error(); {
	case strings.HasPrefix(text, "compilation"):
		return "compile_error"
	case strings.HasPrefix(text, expr.ErrBudget.Error()):
		return "out_of_budget"
	}
	return "invalid_error"
}
