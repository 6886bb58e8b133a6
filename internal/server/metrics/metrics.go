package metrics

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/endpoint"
)

// Metrics are the collectors of requests and watches. Routes and endpoints keep plain counters, of which a scrape makes
// metrics: a counter of the Prometheus library is a hundred times as large, and an idle cluster has some hundred routes.
type Metrics struct {
	// terminations counts requests that the server has ended to protect itself, and aborts those
	// whose connection it has cut.
	terminations   *prometheus.CounterVec
	aborts         *prometheus.CounterVec
	AdmissionSteps *AdmissionSteps
	// QueuedReads and QueuedWrites are the requests that wait for their seats.
	QueuedReads, QueuedWrites gauge
	routes                    sync.Map // Route -> *routeCounters
	watched                   sync.Map // watchScope -> *WatchCounters
	deprecated                sync.Map // deprecatedAPI -> nil
}

// Route is the set of labels under which a request is counted.
type Route struct {
	Endpoint                 *endpoint.Endpoint
	Verb, Subresource, Scope string
	DryRun                   bool
	Code                     int
}

// routeCounters counts the requests of a route: by duration, by the part of it that is the server's own, both in
// nanoseconds, and by the size of the response in bytes. Dry runs have no own duration, and only reads have a size.
type routeCounters struct{ duration, own, size histogram }

// newRouteCounters returns counters for a route.
func newRouteCounters(k Route) *routeCounters {
	r := &routeCounters{duration: newHistogram(durations)}
	if !k.DryRun {
		r.own = newHistogram(ownDurations)
	}
	if k.Verb == "get" || k.Verb == "list" {
		r.size = newHistogram(responseSizes)
	}
	return r
}

// watchScope is the set of watches that are counted together.
type watchScope struct {
	endpoint *endpoint.Endpoint
	scope    string
}

// WatchCounters counts the watches of one endpoint and scope: the events sent, watchers dropped because they did not read, the
// bytes of the events, the time until the state that a watch was asked to begin with was sent, in nanoseconds, and the watches
// that are open.
type WatchCounters struct {
	Events, Dropped counter
	Sizes, Lists    histogram
	Open            gauge
}

// New registers the collectors.
func New(reg *prometheus.Registry) *Metrics {
	m := &Metrics{
		AdmissionSteps: newSteps(),
		terminations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_terminations_total", Help: "Requests that the server has ended to protect itself.",
		}, []string{"verb", "group", "version", "resource", "subresource", "scope", "component", "code"}),
	}
	m.aborts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "apiserver_request_aborts_total", Help: "Requests whose connection the server has cut because it could not finish the response.",
	}, []string{"verb", "group", "version", "resource", "subresource", "scope"})
	reg.MustRegister(m.terminations, m.aborts, m, m.AdmissionSteps.took)
	return m
}

// Observe counts a request that began at start and has been answered with so many bytes. For waited of its time it was in a
// queue, or waited for webhooks.
func (r *routeCounters) Observe(start time.Time, waited time.Duration, bytes int64) {
	took := time.Since(start)
	r.duration.Observe(int64(took))
	r.own.Observe(int64(took - waited))
	r.size.Observe(bytes)
}

// Aborted counts a request whose connection the server has cut.
func (m *Metrics) Aborted(k Route) {
	group, version, resource := k.names()
	m.aborts.WithLabelValues(metricVerb(k.Verb), group, version, resource, k.Subresource, k.Scope).Inc()
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

// Route returns the counters of a route.
func (m *Metrics) Route(k Route) *routeCounters {
	found, ok := m.routes.Load(k)
	if !ok {
		found, _ = m.routes.LoadOrStore(k, newRouteCounters(k))
	}
	return found.(*routeCounters)
}

// Watch returns the counters of the watches of an endpoint in a scope.
func (m *Metrics) Watch(ep *endpoint.Endpoint, scope string) *WatchCounters {
	k := watchScope{ep, scope}
	if w, ok := m.watched.Load(k); ok {
		return w.(*WatchCounters)
	}
	w, _ := m.watched.LoadOrStore(k, &WatchCounters{Sizes: newHistogram(sizes), Lists: newHistogram(listDurations)})
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
