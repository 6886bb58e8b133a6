package server

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/endpoint"
)

// metrics are the server's collectors, under the names that dashboards of
// kube-apiserver know.
type metrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	events   *prometheus.CounterVec
	sizes    *prometheus.HistogramVec
	watches  *prometheus.GaugeVec
	dropped  *prometheus.CounterVec
	// terminations are the requests that the server has ended to protect itself.
	terminations *prometheus.CounterVec
	steps        *steps
	// routes and watched keep resolved collectors: finding one by its labels
	// costs more than the rest of the counting.
	routes  sync.Map // routeKey -> *routeCounters
	watched sync.Map // *endpoint -> *watchCounters
}

type routeKey struct {
	ep               *endpoint.Endpoint
	verb, sub, scope string
	dryRun           bool
	code             int
}

type routeCounters struct {
	total    prometheus.Counter
	duration prometheus.Observer
}

type watchCounters struct {
	events, dropped prometheus.Counter
	sizes           prometheus.Observer
	open            prometheus.Gauge
}

func newMetrics(reg *prometheus.Registry) *metrics {
	route := []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	m := &metrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource and answer.",
		}, append(route, "code")),
		duration: histogram("apiserver_request_duration_seconds", "Time to answer a request, in seconds.",
			[]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60}, route...),
		steps: newSteps(),
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
	reg.MustRegister(m.terminations, m.total, m.duration, m.events, m.sizes, m.watches, m.dropped, m.steps.took)
	return m
}

// terminated counts a request that the server has ended to protect itself.
func (m *metrics) terminated(c *call, code int) {
	var group, version, resource, sub string
	if c.ep != nil {
		group, version, resource = c.ep.ServedGVK.Group, c.ep.ServedGVK.Version, c.ep.Plural
		if c.ep.Subresource(c.info.Subresource) != nil {
			sub = c.info.Subresource
		}
	}
	m.terminations.WithLabelValues(metricVerb(c.info.Verb), group, version, resource, sub, c.scope(), "apiserver", strconv.Itoa(code)).Inc()
}

// observe counts an answered call.
func (m *metrics) observe(c *call) { m.route(c).observe(c.start) }

func (r *routeCounters) observe(start time.Time) {
	r.total.Inc()
	r.duration.Observe(time.Since(start).Seconds())
}

// route is where the call is to be counted.
func (m *metrics) route(c *call) *routeCounters {
	key := routeKey{ep: c.ep, verb: c.info.Verb, dryRun: c.dryRun, code: c.w.code}
	if c.ep != nil {
		key.scope = c.scope()
		// A subresource that does not exist has only the name that a client gave it,
		// and there may be any number of those.
		if c.ep.Subresource(c.info.Subresource) != nil {
			key.sub = c.info.Subresource
		}
	}
	found, ok := m.routes.Load(key)
	if !ok {
		found, _ = m.routes.LoadOrStore(key, m.resolve(key))
	}
	return found.(*routeCounters)
}

func (m *metrics) resolve(k routeKey) *routeCounters {
	var group, version, resource, dry string
	if k.ep != nil {
		group, version, resource = k.ep.ServedGVK.Group, k.ep.ServedGVK.Version, k.ep.Plural
	}
	if k.dryRun {
		dry = "All"
	}
	labels := []string{metricVerb(k.verb), dry, group, version, resource, k.sub, k.scope, "apiserver"}
	return &routeCounters{
		duration: m.duration.WithLabelValues(labels...),
		total:    m.total.WithLabelValues(append(labels, strconv.Itoa(k.code))...),
	}
}

func (m *metrics) watch(ep *endpoint.Endpoint) *watchCounters {
	if w, ok := m.watched.Load(ep); ok {
		return w.(*watchCounters)
	}
	w, _ := m.watched.LoadOrStore(ep, &watchCounters{
		events:  m.events.WithLabelValues(ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural),
		sizes:   m.sizes.WithLabelValues(ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural),
		dropped: m.dropped.WithLabelValues(ep.ServedGVK.Group, ep.Plural),
		open:    m.watches.WithLabelValues("WATCH", ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural, "apiserver"),
	})
	return w.(*watchCounters)
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

// scope says how much the call is about, as the metrics word it.
func (c *call) scope() string {
	switch {
	case c.info.Name != "":
		return "resource"
	case c.info.Namespace != "":
		return "namespace"
	}
	return "cluster"
}
