package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/endpoint"
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
	openDesc     = prometheus.NewDesc("apiserver_longrunning_requests", "Watches that are open.", []string{"verb", "group", "version", "resource", "component"}, nil)
	droppedDesc  = prometheus.NewDesc("apiserver_terminated_watchers_total", "Watchers dropped because they did not read.", ofResource, nil)
)

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{totalDesc, durationDesc, ownDesc, sizeDesc, queuedDesc, eventsDesc, sizesDesc, openDesc, droppedDesc} {
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

// collectWatches collects the metrics of watches.
func (m *Metrics) collectWatches(out chan<- prometheus.Metric) {
	type version struct{ group, version, resource string }
	type sums struct {
		events uint64
		open   int64
		sizes  counted
	}
	all, dropped := map[version]*sums{}, map[[2]string]uint64{}
	for k, v := range m.watched.Range {
		ep, w := k.(*endpoint.Endpoint), v.(*WatchCounters)
		of := version{ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural}
		s := all[of]
		if s == nil {
			s = &sums{}
			all[of] = s
		}
		s.events += w.Events.Load()
		s.open += w.Open.Load()
		s.sizes.add(&w.Sizes)
		dropped[[2]string{of.group, of.resource}] += w.Dropped.Load()
	}
	for of, s := range all {
		out <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(s.events), of.group, of.version, of.resource)
		out <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(s.open), "WATCH", of.group, of.version, of.resource, "apiserver")
		out <- s.sizes.metric(sizesDesc, of.group, of.version, of.resource)
	}
	for of, n := range dropped {
		out <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(n), of[0], of[1])
	}
}
