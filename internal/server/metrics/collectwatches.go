package metrics

import "github.com/prometheus/client_golang/prometheus"

// versioned is a resource in a version.
type versioned struct{ group, version, resource string }

// watchSums are the counters of the watches of a version in all scopes.
type watchSums struct {
	events uint64
	sizes  counted
}

// scoped is a version of a resource and a scope. A definition's endpoints before and after a change have the same.
type scoped struct {
	versioned
	scope string
}

// scopeSums are the counters of the watches of one scope.
type scopeSums struct {
	open  int64
	lists counted
}

// collectWatches collects the metrics of watches.
func (m *Metrics) collectWatches(out chan<- prometheus.Metric) {
	all, scopes, dropped := map[versioned]*watchSums{}, map[scoped]*scopeSums{}, map[[2]string]uint64{}
	for k, v := range m.watched.Range {
		ep, w := k.(watchScope).endpoint, v.(*WatchCounters)
		of := versioned{ep.ServedGVK.Group, ep.ServedGVK.Version, ep.Plural}
		if all[of] == nil {
			all[of] = &watchSums{}
		}
		all[of].events += w.Events.Load()
		all[of].sizes.add(&w.Sizes)
		dropped[[2]string{of.group, of.resource}] += w.Dropped.Load()
		in := scoped{of, k.(watchScope).scope}
		if scopes[in] == nil {
			scopes[in] = &scopeSums{}
		}
		scopes[in].open += w.Open.Load()
		scopes[in].lists.add(&w.Lists)
	}
	for of, s := range all {
		out <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(s.events), of.group, of.version, of.resource)
		out <- s.sizes.metric(sizesDesc, of.group, of.version, of.resource)
	}
	for of, s := range scopes {
		out <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(s.open), "WATCH", of.group, of.version, of.resource, "", of.scope, "apiserver")
		if s.lists.count > 0 {
			out <- s.lists.metric(listsDesc, of.group, of.version, of.resource, of.scope)
		}
	}
	for of, n := range dropped {
		out <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(n), of[0], of[1])
	}
}
