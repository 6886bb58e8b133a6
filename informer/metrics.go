package informer

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// An Informer and a Set are collectors for Prometheus:
//
//	registry.MustRegister(set)
//
// They show the size of each store, its number of lists, and how far behind each handler
// is. No metric is counted per object, and all but four counters are computed on each
// scrape.
var (
	labels      = []string{"resource", "name"}
	objectsDesc = prometheus.NewDesc("fairlead_informer_objects", "How many objects the local copy holds", labels, nil)
	eventsDesc  = prometheus.NewDesc("fairlead_informer_events_total", "How many events were read from watches", labels, nil)
	listsDesc   = prometheus.NewDesc("fairlead_informer_lists_total", "How many lists were put in place: one, and one for each time that the server could not go on from where the copy was", labels, nil)
	failsDesc   = prometheus.NewDesc("fairlead_informer_failures_total", "How often following the resource failed", labels, nil)
	lagDesc     = prometheus.NewDesc("fairlead_informer_handler_lag", "How many changes a handler has not been told yet; of handlers of one name, the largest", append(labels, "handler"), nil)
)

// Describe sends no descriptors, since the set of informers changes with time.
func (i *Informer[T]) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures of the informer.
func (i *Informer[T]) Collect(out chan<- prometheus.Metric) {
	resource := i.name()
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, more ...string) {
		out <- prometheus.MustNewConstMetric(d, t, v, append([]string{resource, i.o.Name}, more...)...)
	}
	send(objectsDesc, prometheus.GaugeValue, float64(i.store.Len()))
	send(eventsDesc, prometheus.CounterValue, float64(i.events.Load()))
	send(listsDesc, prometheus.CounterValue, float64(i.lists.Load()))
	send(failsDesc, prometheus.CounterValue, float64(i.failures.Load()))
	lags := map[string]int{}
	for _, rd := range i.store.readers() {
		lags[rd.h.Name] = max(lags[rd.h.Name], i.store.lag(rd))
	}
	for _, handler := range slices.Sorted(maps.Keys(lags)) {
		send(lagDesc, prometheus.GaugeValue, float64(lags[handler]), handler)
	}
}

// Describe sends no descriptors, since the set of informers changes with time.
func (s *Set) Describe(chan<- *prometheus.Desc) {}

// Collect sends the figures of the set's informers.
func (s *Set) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	var all []prometheus.Collector
	for _, m := range s.mu.members {
		all = append(all, m.informer)
	}
	s.mu.Unlock()
	for _, i := range all {
		i.Collect(out)
	}
}
