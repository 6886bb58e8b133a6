package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The kinds of calls of the API server about a pod, which run beside the scheduling cycle.
const (
	PodBinding     = "pod_binding"
	PodStatusPatch = "pod_status_patch"
)

// calls counts calls of the API server, as kube-scheduler does with the feature gate SchedulerAsyncAPICalls.
type calls struct {
	total             *prometheus.CounterVec
	took              *prometheus.HistogramVec
	pending           *prometheus.GaugeVec
	bindings, patches prometheus.Gauge // of pending
}

func newCalls() calls {
	c := calls{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "scheduler", Name: "async_api_call_execution_total", Help: "Calls of the API server beside the scheduling cycle, by kind and result.",
		}, []string{"call_type", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "scheduler", Name: "async_api_call_execution_duration_seconds", Help: "Time of such a call, in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}, []string{"call_type", "result"}),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "scheduler", Name: "pending_async_api_calls", Help: "Pods with a call that waits to be made or runs.",
		}, []string{"call_type"}),
	}
	c.bindings, c.patches = c.pending.WithLabelValues(PodBinding), c.pending.WithLabelValues(PodStatusPatch)
	return c
}

// Called counts a call that began at start.
func (m *Metrics) Called(kind string, err error, start time.Time) {
	if m == nil {
		return
	}
	result := "success"
	if err != nil {
		result = "error"
	}
	m.calls.total.WithLabelValues(kind, result).Inc()
	m.calls.took.WithLabelValues(kind, result).Observe(time.Since(start).Seconds())
}
