package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/storage"
)

// StoreRequests counts the requests to the store, embedded or etcd, under the names that kube-apiserver has for etcd's. It is a
// prometheus.Collector.
type StoreRequests struct {
	series sync.Map // StoreRequest -> *storeSeries
}

// A StoreRequest is the set of labels under which a request is counted. The operations are upstream's: create, update, delete,
// list and getCurrentResourceVersion.
type StoreRequest struct{ Operation, Group, Resource string }

// storeSeries counts requests by duration, in nanoseconds, and those that failed.
type storeSeries struct {
	took   histogram
	failed counter
}

var (
	ofStoreRequest = []string{"operation", "group", "resource"}

	storeTookDesc   = prometheus.NewDesc("etcd_request_duration_seconds", "Time of a request to the store, in seconds.", ofStoreRequest, nil)
	storeTotalDesc  = prometheus.NewDesc("etcd_requests_total", "Requests to the store.", ofStoreRequest, nil)
	storeFailedDesc = prometheus.NewDesc("etcd_request_errors_total", "Requests to the store that failed. A write whose condition does not hold has not failed.", ofStoreRequest, nil)
)

// Observe counts a request that began at start.
func (m *StoreRequests) Observe(r StoreRequest, start time.Time, err error) {
	found, ok := m.series.Load(r)
	if !ok {
		found, _ = m.series.LoadOrStore(r, &storeSeries{took: newHistogram(durations)})
	}
	s := found.(*storeSeries)
	s.took.Observe(int64(time.Since(start)))
	if err != nil {
		s.failed.Inc()
	}
}

// Describe implements prometheus.Collector.
func (m *StoreRequests) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{storeTookDesc, storeTotalDesc, storeFailedDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *StoreRequests) Collect(out chan<- prometheus.Metric) {
	for k, v := range m.series.Range {
		r, s := k.(StoreRequest), v.(*storeSeries)
		var took counted
		took.add(&s.took)
		out <- took.metric(storeTookDesc, r.Operation, r.Group, r.Resource)
		out <- prometheus.MustNewConstMetric(storeTotalDesc, prometheus.CounterValue, float64(took.count), r.Operation, r.Group, r.Resource)
		if n := s.failed.Load(); n > 0 {
			out <- prometheus.MustNewConstMetric(storeFailedDesc, prometheus.CounterValue, float64(n), r.Operation, r.Group, r.Resource)
		}
	}
}

// Reads returns the store as the watch cache of a resource reads it, with its requests counted.
func (m *StoreRequests) Reads(s storage.Store, group, resource string) storage.Store {
	return reads{s, m, group, resource}
}

// reads counts the reads of a resource.
type reads struct {
	storage.Store
	requests        *StoreRequests
	group, resource string
}

// Range implements storage.Store.
func (s reads) Range(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	start := time.Now()
	res, err := s.Store.Range(ctx, r)
	s.observe("list", start, err)
	return res, err
}

// Current implements storage.Store.
func (s reads) Current(ctx context.Context) (storage.Revision, error) {
	start := time.Now()
	at, err := s.Store.Current(ctx)
	s.observe("getCurrentResourceVersion", start, err)
	return at, err
}

func (s reads) observe(operation string, start time.Time, err error) {
	if errors.Is(err, storage.ErrFutureRevision) || errors.Is(err, storage.ErrCompacted) {
		err = nil // the request's fault
	}
	s.requests.Observe(StoreRequest{operation, s.group, s.resource}, start, err)
}
