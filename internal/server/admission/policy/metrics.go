package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/server/admission/expr"
)

// Metrics shows what policies do, under upstream's names. Of validating ones each validation
// that fails counts, once for each thing that its binding does about it, and each that cannot be
// evaluated and is let be; those that pass are not counted. Of mutating ones each mutation
// counts that is done or fails.
type Metrics struct {
	checks, changes   *prometheus.CounterVec
	took, changesTook *prometheus.HistogramVec
}

// NewMetrics returns Metrics of nothing.
func NewMetrics() *Metrics {
	change := []string{"policy", "policy_binding", "error_type"}
	labels := append(slices.Clone(change), "enforcement_action")
	buckets := []float64{0.0000005, 0.001, 0.01, 0.1, 1}
	return &Metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_validating_admission_policy_check_total", Help: "Validations of policies that failed, by what was done about it.",
		}, labels),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_validating_admission_policy_check_duration_seconds", Help: "How long those validations took, in seconds.",
			Buckets: buckets,
		}, labels),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_mutating_admission_policy_check_total", Help: "Mutations of policies that were done, or failed.",
		}, change),
		changesTook: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_mutating_admission_policy_check_duration_seconds", Help: "How long mutations of policies took, in seconds.",
			Buckets: buckets,
		}, change),
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(out)
	}
}

func (m *Metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.checks, m.took, m.changes, m.changesTook}
}

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

// changed counts a mutation, which failed unless err is nil.
func (m *Metrics) changed(policy, binding string, err error, took time.Duration) {
	if m == nil {
		return
	}
	failed := "no_error"
	if err != nil {
		failed = errorType(err)
	}
	m.changes.WithLabelValues(policy, binding, failed).Inc()
	m.changesTook.WithLabelValues(policy, binding, failed).Observe(took.Seconds())
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
