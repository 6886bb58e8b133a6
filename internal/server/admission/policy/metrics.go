package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/server/admission/expr"
)

// Metrics counts the effects of policies, under upstream's names. For validating policies it counts each failed
// validation once per action of the binding, and each ignored evaluation error; successful validations are not
// counted. For mutating policies it counts each mutation, successful or failed.
type Metrics struct {
	checks, changes   *prometheus.CounterVec
	took, changesTook *prometheus.HistogramVec
}

// NewMetrics returns Metrics without counts.
func NewMetrics() *Metrics {
	change := []string{"policy", "policy_binding", "error_type"}
	labels := append(slices.Clone(change), "enforcement_action")
	buckets := []float64{0.0000005, 0.001, 0.01, 0.1, 1}
	return &Metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_validating_admission_policy_check_total", Help: "Failed validations of policies, by enforcement action.",
		}, labels),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_validating_admission_policy_check_duration_seconds", Help: "How long those validations took, in seconds.",
			Buckets: buckets,
		}, labels),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_mutating_admission_policy_check_total", Help: "Mutations by policies, by result.",
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

// allowed is the recorded action for an evaluation error of a policy that ignores failures.
const allowed admissionv1.ValidationAction = "Allow"

// checked counts a failed validation and the action taken.
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

// errorType classifies failures as upstream does, by their text; a validation that evaluates to false is in the
// last class too.
func errorType(err error) string {
	switch text := err.Error(); {
	case strings.HasPrefix(text, "compilation"):
		return "compile_error"
	case strings.HasPrefix(text, expr.ErrBudget.Error()):
		return "out_of_budget"
	}
	return "invalid_error"
}
