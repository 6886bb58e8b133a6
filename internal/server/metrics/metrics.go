package metrics

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/endpoint"
)

// Metrics are the collectors of requests and watches.
type Metrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	events   *prometheus.CounterVec
	sizes    *prometheus.HistogramVec
	watches  *prometheus.GaugeVec
	dropped  *prometheus.CounterVec
	// terminations counts requests that the server has ended to protect itself.
	terminations   *prometheus.CounterVec
	AdmissionSteps *AdmissionSteps
	// routes and watched keep resolved collectors: finding one by its labels
	// costs more than the rest of the counting.
	routes  sync.Map // Route -> *routeCounters
	watched sync.Map // *endpoint -> *watchCounters
}

// Route is the set of labels under which a request is counted.
type Route struct {
	Endpoint                 *endpoint.Endpoint
	Verb, Subresource, Scope string
	DryRun                   bool
	Code                     int
}

type routeCounters struct {
	total    prometheus.Counter
	duration prometheus.Observer
}

// WatchCounters are the collectors of the watches of one endpoint.
type WatchCounters struct {
	Events, Dropped prometheus.Counter
	Sizes           prometheus.Observer
	Open            prometheus.Gauge
}

// New registers the collectors.
func New(reg *prometheus.Registry) *Metrics {
	route := []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	m := &Metrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource and answer.",
		}, append(route, "code")),
		duration: histogram("apiserver_request_duration_seconds", "Time to answer a request, in seconds.",
			[]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60}, route...),
		AdmissionSteps: newSteps(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total", Help: "Events sent to watchers.",
		}, []string{"group", "version", "resource"}),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_watch_events_sizes", Help: "Bytes of the events sent to watchers.",
			Buckets: prometheus.ExponentialBuckets(1024, 2, 8),
		}, []string{"group", "version", "resource"}),
		watches: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Watches that are open.",
		}, []string{"verb", "group", "version", "resource", "component"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_terminated_watchers_total", Help: "Watchers dropped because they did not read.",
		}, []string{"group", "resource"}),
		terminations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_terminations_total", Help: "Requests that the server has ended to protect itself.",
		}, []string{"verb", "group", "version", "resource", "subresource", "scope", "component", "code"}),
	}
	reg.MustRegister(m.terminations, m.total, m.duration, m.events, m.sizes, m.watches, m.dropped, m.AdmissionSteps.took)
	return m
}

// Observe counts a request that began at start and has been answered.
func (r *routeCounters) Observe(start time.Time) {
	r.total.Inc()
	r.duration.Observe(time.Since(start).Seconds())
}

// Terminated counts a request that the server has ended to protect itself.
func (m *Metrics) Terminated(k Route) {
	group, version, resource := k.names()
	m.terminations.WithLabelValues(metricVerb(k.Verb), group, version, resource, k.Subresource, k.Scope, "apiserver", strconv.Itoa(k.Code)).Inc()
}

// names returns the group, version and resource of the route, empty for a path of no resource.
func (k Route) names() (group, version, resource string) {
	if k.Endpoint == nil {
		return "", "", ""
	}
	return k.Endpoint.ServedGVK.Group, k.Endpoint.ServedGVK.Version, k.Endpoint.Plural
}

// Route returns the collectors of a route.
func (m *Metrics) Route(k Route) *routeCounters {
	found, ok := m.routes.Load(k)
	if !ok {
		found, _ = m.routes.LoadOrStore(k, m.resolve(k))
	}
	return found.(*routeCounters)
}

func (m *Metrics) resolve(k Route) *routeCounters {
	var dry string
	group, version, resource := k.names()
	if k.DryRun {
		dry = "All"
	}
	labels := []string{metricVerb(k.Verb), dry, group, version, resource, k.Subresource, k.Scope, "apiserver"}
	return &routeCounters{
		duration: m.duration.WithLabelValues(labels...),
		total:    m.total.WithLabelValues(append(labels, strconv.Itoa(k.Code))...),
	}
}

// Watch returns the collectors of the watches of an endpoint.
func (m *Metrics) Watch(ep *endpoint.Endpoint) *WatchCounters {
	if w, ok := m.watched.Load(ep); ok {
		return w.(*WatchCounters)
	}
	w, _ := m.watched.LoadOrStore(ep, &WatchCounters{
		Events:  m.events.WithLabelValues(ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural),
		Sizes:   m.sizes.WithLabelValues(ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural),
		Dropped: m.dropped.WithLabelValues(ep.ServedGVK.Group, ep.Plural),
		Open:    m.watches.WithLabelValues("WATCH", ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural, "apiserver"),
	})
	return w.(*WatchCounters)
}

func metricVerb(v string) string {
	switch v {
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "get", "list", "watch", "patch", "delete", "deletecollection", "post", "put", "head", "options":
		return strings.ToUpper(v)
	}
	return "other"
}
