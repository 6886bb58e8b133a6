package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	// durations are those of requests: upstream's, and finer ones below them. ownDurations are upstream's.
	durations = &scale{unit: float64(time.Second), bounds: []int64{
		500e3, 1e6, 2500e3, 5e6, 10e6, 25e6, 50e6, 100e6, 200e6, 400e6, 600e6, 800e6, 1e9, 1250e6, 1500e6, 2e9, 3e9,
		4e9, 5e9, 6e9, 8e9, 10e9, 15e9, 20e9, 30e9, 45e9, 60e9,
	}}
	ownDurations = &scale{unit: float64(time.Second), bounds: []int64{
		50e6, 100e6, 200e6, 400e6, 600e6, 800e6, 1e9, 1250e6, 1500e6, 2e9, 3e9, 4e9, 5e9, 6e9, 8e9, 10e9, 15e9, 20e9, 30e9, 45e9, 60e9,
	}}
	// listDurations are those of the states that watches begin with: upstream's.
	listDurations = &scale{unit: float64(time.Second), bounds: []int64{
		50e6, 100e6, 200e6, 400e6, 600e6, 800e6, 1e9, 2e9, 4e9, 6e9, 8e9, 10e9, 15e9, 20e9, 30e9, 45e9, 60e9, 90e9, 120e9, 180e9, 300e9,
	}}
	// responseSizes are those of responses, from a kilobyte to a gigabyte, and sizes those of events, from 1 KiB to 128 KiB.
	responseSizes = &scale{unit: 1, bounds: []int64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}}
	sizes         = &scale{unit: 1, bounds: []int64{1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}}

	ofRoute = []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	// ofKind is ofRoute without dry_run.
	ofKind    = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}
	ofVersion = []string{"group", "version", "resource"}

	totalDesc    = prometheus.NewDesc("apiserver_request_total", "Requests by verb, resource and answer.", append(ofRoute[:len(ofRoute):len(ofRoute)], "code"), nil)
	durationDesc = prometheus.NewDesc("apiserver_request_duration_seconds", "Time to answer a request, in seconds.", ofRoute, nil)
	ownDesc      = prometheus.NewDesc("apiserver_request_sli_duration_seconds", "Time to answer a request, in seconds, less the time in a queue and that of webhooks.", ofKind, nil)
	sizeDesc     = prometheus.NewDesc("apiserver_response_sizes", "Bytes of the responses to reads.", ofKind, nil)
	eventsDesc   = prometheus.NewDesc("apiserver_watch_events_total", "Events sent to watchers.", ofVersion, nil)
	sizesDesc    = prometheus.NewDesc("apiserver_watch_events_sizes", "Bytes of the events sent to watchers.", ofVersion, nil)
	queuedDesc   = prometheus.NewDesc("apiserver_current_inqueue_requests", "Requests that wait for their seats.", []string{"request_kind"}, nil)
	openDesc     = prometheus.NewDesc("apiserver_longrunning_requests", "Watches that are open.", ofKind, nil)
	listsDesc    = prometheus.NewDesc("apiserver_watch_list_duration_seconds", "Time until a watch has sent the state that it was asked to begin with, or has ended, in seconds.", []string{"group", "version", "resource", "scope"}, nil)
	droppedDesc  = prometheus.NewDesc("apiserver_terminated_watchers_total", "Watchers dropped because they did not read.", ofResource, nil)
)

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{totalDesc, durationDesc, ownDesc, sizeDesc, queuedDesc, eventsDesc, sizesDesc, openDesc, listsDesc, deprecatedDesc, droppedDesc} {
		out <- d
	}
}

// labels are the values of ofRoute.
type labels [8]string

// kind returns the values of ofKind.
func (l labels) kind() []string { return append([]string{l[0]}, l[2:]...) }

// totals are the counters of the routes with the same labels, such as those of a definition's endpoints before and after a
// change, or those with different codes.
type totals struct{ duration, own, size counted }

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	type answer struct {
		labels
		code int
	}
	answers, all := map[answer]uint64{}, map[labels]*totals{}
	for k, v := range m.routes.Range {
		route := k.(Route)
		of := route.labels()
		t := all[of]
		if t == nil {
			t = &totals{}
			all[of] = t
		}
		counters, before := v.(*routeCounters), t.duration.count
		t.duration.add(&counters.duration)
		answers[answer{of, route.Code}] += t.duration.count - before
		if counters.own.scale != nil {
			t.own.add(&counters.own)
		}
		if counters.size.scale != nil {
			t.size.add(&counters.size)
		}
	}
	for a, n := range answers {
		out <- prometheus.MustNewConstMetric(totalDesc, prometheus.CounterValue, float64(n), append(a.labels[:], strconv.Itoa(a.code))...)
	}
	for of, t := range all {
		out <- t.duration.metric(durationDesc, of[:]...)
		if t.own.scale != nil {
			out <- t.own.metric(ownDesc, of.kind()...)
		}
		if t.size.scale != nil {
			out <- t.size.metric(sizeDesc, of.kind()...)
		}
	}
	out <- prometheus.MustNewConstMetric(queuedDesc, prometheus.GaugeValue, float64(m.QueuedReads.Load()), "readOnly")
	out <- prometheus.MustNewConstMetric(queuedDesc, prometheus.GaugeValue, float64(m.QueuedWrites.Load()), "mutating")
	m.collectDeprecated(out)
	m.collectWatches(out)
}

// labels returns the values of ofRoute.
func (k Route) labels() labels {
	dry := ""
	if k.DryRun {
		dry = "All"
	}
	group, version, resource := k.names()
	return labels{metricVerb(k.Verb), dry, group, version, resource, k.Subresource, k.Scope, "apiserver"}
}
