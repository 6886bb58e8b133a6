package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/endpoint"
)

var (
	// durations are those of requests, from half a millisecond to a minute, and sizes those of events, from 1 KiB to 128 KiB.
	durations = &scale{unit: float64(time.Second), bounds: []int64{
		500e3, 1e6, 2500e3, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6, 500e6, 1e9, 2e9, 5e9, 10e9, 30e9, 60e9,
	}}
	sizes = &scale{unit: 1, bounds: []int64{1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}}

	ofRoute   = []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	ofVersion = []string{"group", "version", "resource"}

	totalDesc    = prometheus.NewDesc("apiserver_request_total", "Requests by verb, resource and answer.", append(ofRoute[:len(ofRoute):len(ofRoute)], "code"), nil)
	durationDesc = prometheus.NewDesc("apiserver_request_duration_seconds", "Time to answer a request, in seconds.", ofRoute, nil)
	eventsDesc   = prometheus.NewDesc("apiserver_watch_events_total", "Events sent to watchers.", ofVersion, nil)
	sizesDesc    = prometheus.NewDesc("apiserver_watch_events_sizes", "Bytes of the events sent to watchers.", ofVersion, nil)
	openDesc     = prometheus.NewDesc("apiserver_longrunning_requests", "Watches that are open.", []string{"verb", "group", "version", "resource", "component"}, nil)
	droppedDesc  = prometheus.NewDesc("apiserver_terminated_watchers_total", "Watchers dropped because they did not read.", ofResource, nil)
)

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{totalDesc, durationDesc, eventsDesc, sizesDesc, openDesc, droppedDesc} {
		out <- d
	}
}

// labels are the values of ofRoute.
type labels [8]string

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	type answer struct {
		labels
		code int
	}
	// Routes whose labels are the same, such as those of a definition's endpoints before and after a change, are one.
	totals, took := map[answer]uint64{}, map[labels]*counted{}
	for k, v := range m.routes.Range {
		route := k.(Route)
		of := route.labels()
		c := took[of]
		if c == nil {
			c = &counted{}
			took[of] = c
		}
		before := c.count
		c.add(&v.(*routeCounters).duration)
		totals[answer{of, route.Code}] += c.count - before
	}
	for a, n := range totals {
		out <- prometheus.MustNewConstMetric(totalDesc, prometheus.CounterValue, float64(n), append(a.labels[:], strconv.Itoa(a.code))...)
	}
	for of, c := range took {
		out <- c.metric(durationDesc, of[:]...)
	}
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
