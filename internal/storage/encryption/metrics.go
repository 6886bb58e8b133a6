package encryption

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// families are the prefixes of the names of upstream's metrics of encryption.
var families = []string{
	"apiserver_encryption_config_controller_", "apiserver_envelope_encryption_", "apiserver_storage_data_key_generation_",
	"apiserver_storage_envelope_transformation_", "apiserver_storage_transformation_",
}

// Metrics gathers upstream's metrics of encryption, which are those of all API servers in the process.
var Metrics prometheus.Gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
	all, err := legacyregistry.DefaultGatherer.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
		return !slices.ContainsFunc(families, func(prefix string) bool { return strings.HasPrefix(f.GetName(), prefix) })
	}), err
})
