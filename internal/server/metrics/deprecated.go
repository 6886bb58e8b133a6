package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// deprecatedAPI is a deprecated API that has been requested, and the release without it, if that is known.
type deprecatedAPI struct{ group, version, resource, subresource, removed string }

var deprecatedDesc = prometheus.NewDesc("apiserver_requested_deprecated_apis", "1 for each deprecated API that has been requested.",
	[]string{"group", "version", "resource", "subresource", "removed_release"}, nil)

// Deprecated notes a request to a deprecated API, of which the warning tells.
func (m *Metrics) Deprecated(k Route, warning string) {
	var d deprecatedAPI
	d.group, d.version, d.resource = k.names()
	d.subresource = k.Subresource
	if _, after, found := strings.Cut(warning, "unavailable in v"); found && !k.Endpoint.Redefinable { // else the words are a user's
		d.removed, _, _ = strings.Cut(after, "+")
	}
	if _, ok := m.deprecated.Load(d); !ok {
		m.deprecated.Store(d, nil)
	}
}

func (m *Metrics) collectDeprecated(out chan<- prometheus.Metric) {
	for k := range m.deprecated.Range {
		d := k.(deprecatedAPI)
		out <- prometheus.MustNewConstMetric(deprecatedDesc, prometheus.GaugeValue, 1, d.group, d.version, d.resource, d.subresource, d.removed)
	}
}
