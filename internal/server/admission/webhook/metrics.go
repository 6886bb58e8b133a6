package webhook

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/admission"
)

// Metrics counts calls of webhooks, under upstream's names.
type Metrics struct {
	took                         *prometheus.HistogramVec
	requests, rejected, failOpen *prometheus.CounterVec
}

// NewMetrics returns Metrics without counts.
func NewMetrics() *Metrics {
	const sub = "apiserver_admission_webhook_"
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: sub + name, Help: help}, labels)
	}
	return &Metrics{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: sub + "admission_duration_seconds", Help: "How long a webhook took, in seconds, by operation.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25},
		}, []string{"name", "type", "operation", "rejected"}),
		requests: counter("request_total", "Calls of webhooks, by result.", "name", "type", "operation", "code", "rejected"),
		rejected: counter("rejection_count", "Requests rejected because of a webhook, by reason.", "name", "type", "operation", "error_type", "rejection_code"),
		failOpen: counter("fail_open_count", "Failed calls of webhooks that were ignored.", "name", "type"),
	}
}

func (m *Metrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.took, m.requests, m.rejected, m.failOpen}
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

// denied is the error of a request that a webhook has rejected, as opposed to a webhook failure.
type denied struct{ *apierrors.StatusError }

// maxCode is the highest status code with a label of its own.
const maxCode = 600

// asked counts a call of a webhook in a step, as upstream names it: admit or validating.
func (m *Metrics) asked(h *hook, step string, verb admission.Verb, err error, took time.Duration) {
	if m == nil {
		return
	}
	code, refused, why := http.StatusOK, false, ""
	var f *failure
	var no denied
	switch {
	case err == nil:
	case errors.As(err, &no):
		code, refused, why = int(no.ErrStatus.Code), true, "no_error"
	case errors.As(err, &f):
		code, refused = f.code, !h.ignores()
		if refused && !errors.Is(f.err, context.Canceled) {
			why = "calling_webhook_error"
		}
		if !refused {
			m.failOpen.WithLabelValues(h.Name, step).Inc()
		}
	default:
		code, refused, why = 0, true, "apiserver_internal_error"
	}
	told, op := strconv.Itoa(min(code, maxCode)), string(verb)
	if why != "" {
		m.rejected.WithLabelValues(h.Name, step, op, why, told).Inc()
	}
	m.requests.WithLabelValues(h.Name, step, op, told, strconv.FormatBool(refused)).Inc()
	m.took.WithLabelValues(h.Name, step, op, strconv.FormatBool(refused)).Observe(took.Seconds())
}

// codeOf returns the status code for a webhook that could not be called: its server's, if it responded.
func codeOf(err error) int {
	if s, ok := err.(*apierrors.StatusError); ok {
		return int(s.ErrStatus.Code)
	}
	return http.StatusServiceUnavailable
}
