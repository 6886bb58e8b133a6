// Package componentmetrics gathers the metrics that parts of Kubernetes which serve as libraries, such as those of
// k8s.io/apiserver, register in the registry of k8s.io/component-base.
//
// # Contract
//
// The registry is that of the process: if several API servers run in it, each serves the metrics of all.
package componentmetrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Gatherer gathers the families whose names begin with one of the prefixes.
func Gatherer(prefixes ...string) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := legacyregistry.DefaultGatherer.Gather()
		return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
			return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.GetName(), p) })
		}), err
	})
}
