package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/endpoint"
)

// CacheMetrics collects the contents of the watch caches, counted at the time of a scrape.
type CacheMetrics struct {
	Shards *endpoint.Shards
	Stored func() map[schema.GroupResource]*endpoint.Endpoint
}

var (
	ofResource = []string{"group", "resource"}

	objectsDesc    = prometheus.NewDesc("apiserver_resource_objects", "Stored objects.", ofResource, nil)
	versionDesc    = prometheus.NewDesc("apiserver_watch_cache_resource_version", "How far the watch cache is.", ofResource, nil)
	historyDesc    = prometheus.NewDesc("fairlead_watch_cache_history_events", "Events that the watch cache keeps.", ofResource, nil)
	watchersDesc   = prometheus.NewDesc("fairlead_watch_cache_watchers", "Watchers of the watch cache.", ofResource, nil)
	expiredDesc    = prometheus.NewDesc("fairlead_watch_cache_expired_total", "Watchers that were slower than the history is long.", ofResource, nil)
	unreadableDesc = prometheus.NewDesc("fairlead_unreadable_objects", "Stored objects whose values cannot be read.", ofResource, nil)
	decodeDesc     = prometheus.NewDesc("apiserver_storage_decode_errors_total", "Stored values that could not be read.", ofResource, nil)
	behindDesc     = prometheus.NewDesc("fairlead_watch_cache_behind_revisions", "How many revisions the store is ahead of the watch caches; with several stores, the sum.", nil, nil)
)

// Describe implements prometheus.Collector.
func (CacheMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{objectsDesc, versionDesc, historyDesc, watchersDesc, expiredDesc, unreadableDesc, decodeDesc, behindDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m CacheMetrics) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, t, v, labels...)
	}
	behind := int64(0)
	for _, s := range m.Shards.All {
		behind += s.Hub.Stats().Behind
	}
	send(behindDesc, prometheus.GaugeValue, float64(behind))
	for gr, ep := range m.Stored() {
		if ep.Cache == nil {
			continue
		}
		st := ep.Cache.Stats()
		send(objectsDesc, prometheus.GaugeValue, float64(st.Objects), gr.Group, gr.Resource)
		send(versionDesc, prometheus.GaugeValue, float64(ep.Shard.Hub.Revision()), gr.Group, gr.Resource)
		send(historyDesc, prometheus.GaugeValue, float64(st.Events), gr.Group, gr.Resource)
		send(watchersDesc, prometheus.GaugeValue, float64(st.Watchers), gr.Group, gr.Resource)
		send(expiredDesc, prometheus.CounterValue, float64(st.Expired), gr.Group, gr.Resource)
		send(unreadableDesc, prometheus.GaugeValue, float64(st.Unreadable), gr.Group, gr.Resource)
		send(decodeDesc, prometheus.CounterValue, float64(st.DecodeErrors), gr.Group, gr.Resource)
	}
}
