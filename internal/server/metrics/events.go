package metrics

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/trace"
)

// lifeMetrics shows how long events took from hop to hop. It does not cost an event time on its
// way: a scrape counts the events in the trace, each once. Events that entered and left the
// trace between two scrapes are counted as missed.
type lifeMetrics struct {
	log *trace.Log
	mu  struct {
		sync.Mutex
		next int64 // the first revision that has not been counted
	}
	hops, dispatch *prometheus.HistogramVec
	missed         prometheus.Counter
}

// settles is the time that an event is left to pass its last hops before it is counted.
const settles = time.Second

// NewLifeMetrics returns a collector of the events in a trace.
func NewLifeMetrics(l *trace.Log) *lifeMetrics {
	m := &lifeMetrics{
		log: l,
		hops: histogramVec("fairlead_event_hop_duration_seconds",
			"How long events took from the hop before to this one, in seconds.", dispatchBuckets, "hop"),
		dispatch: histogramVec("apiserver_watch_events_dispatch_duration_seconds",
			"How long events took from the store to the watchers, in seconds, by resource and stage; total is all of it.", dispatchBuckets, "group", "resource", "stage"),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "fairlead_trace_events_missed_total", Help: "Events that left the trace before they were counted.",
		}),
	}
	return m
}

func (m *lifeMetrics) each() []prometheus.Collector {
	return []prometheus.Collector{m.hops, m.dispatch, m.missed}
}

// Describe implements prometheus.Collector.
func (m *lifeMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.each() {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (m *lifeMetrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	m.count(time.Now().Add(-settles))
	m.mu.Unlock()
	for _, c := range m.each() {
		c.Collect(out)
	}
}

// count counts the events that began before a time.
func (m *lifeMetrics) count(before time.Time) {
	for _, lf := range m.log.Lives(trace.Filter{From: m.mu.next}) {
		if lf.Began.After(before) {
			break
		}
		if m.mu.next > 0 && lf.Revision > m.mu.next {
			m.missed.Add(float64(lf.Revision - m.mu.next))
		}
		m.mu.next = lf.Revision + 1
		m.event(&lf)
	}
}

func (m *lifeMetrics) event(lf *trace.Life) {
	var last, stored, cached time.Duration
	seen := false
	for i, h := range lf.Hops {
		if i > 0 {
			m.hops.WithLabelValues(h.Hop).Observe((h.At - last).Seconds())
		}
		last = h.At
		switch h.Hop {
		case trace.Queued.String(), trace.Synced.String(), trace.Published.String():
			stored = h.At
		case trace.Cached.String():
			cached, seen = h.At, true
		}
	}
	if !seen {
		return
	}
	resource, group, _ := strings.Cut(lf.Resource, ".")
	m.dispatch.WithLabelValues(group, resource, "storage_to_cache").Observe((cached - stored).Seconds())
	for _, d := range lf.Deliveries {
		if d.Flushed > 0 {
			// A watch that was opened later waits from then on.
			cached, stored := max(cached, d.Replayed), max(stored, d.Replayed)
			m.hops.WithLabelValues("framed").Observe((d.Framed - cached).Seconds())
			m.hops.WithLabelValues("flushed").Observe((d.Flushed - d.Framed).Seconds())
			m.dispatch.WithLabelValues(group, resource, "cache_to_watcher").Observe((d.Flushed - cached).Seconds())
			m.dispatch.WithLabelValues(group, resource, "total").Observe((d.Flushed - stored).Seconds())
		}
	}
}

// dispatchBuckets are upstream's.
var dispatchBuckets = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// histogram returns a histogram that is both a classic one, for dashboards, and a native one,
// for scrapers that ask for it.
func histogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
}
