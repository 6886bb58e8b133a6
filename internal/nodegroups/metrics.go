package nodegroups

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
)

// Metrics shows node groups to Prometheus:
//
//	m := nodegroups.NewMetrics()
//	registry.MustRegister(m)
//	groups := nodegroups.New(env, nodes, nodegroups.Options{Metrics: m})
//
// It counts one Groups at a time. Its methods may be called from any goroutine.
type Metrics struct {
	failures *prometheus.CounterVec
	created  *prometheus.HistogramVec

	mu struct {
		sync.Mutex
		states map[string]*state     // of the groups in the file, as stored
		nodes  func() []*corev1.Node // as last seen; nil while no Groups runs
	}
}

var (
	bounds     = prometheus.NewDesc("fairlead_node_group_size_limit", "Bounds of the size of a node group, min and max.", []string{"group", "limit"}, nil)
	targetSize = prometheus.NewDesc("fairlead_node_group_target_size", "Size of a node group as its autoscaler sees it: nodes, and instances that are pending or failed.", []string{"group"}, nil)
	instances  = prometheus.NewDesc("fairlead_node_group_instances", "Instances of a node group by state: node, pending, out_of_stock (pending without stock) or failed.", []string{"group", "state"}, nil)
	groupPrice = prometheus.NewDesc("fairlead_node_group_price_per_hour", "Price of all nodes of a node group for an hour.", []string{"group"}, nil)
)

// NewMetrics returns Metrics without samples.
func NewMetrics() *Metrics {
	m := &Metrics{
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairlead_node_group_failures_total", Help: "Instances of a node group that could not be created, by the code of the error; OUT_OF_STOCK counts each instance once that waits for stock.",
		}, []string{"group", "code"}),
		created: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairlead_node_group_creation_duration_seconds", Help: "How long instances of a node group took from the request to the Node, in seconds.",
			Buckets: []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 3600},
		}, []string{"group"}),
	}
	m.mu.states = map[string]*state{}
	return m
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{bounds, targetSize, instances, groupPrice} {
		to <- d
	}
	m.failures.Describe(to)
	m.created.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.failures.Collect(to)
	m.created.Collect(to)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.nodes == nil {
		return
	}
	nodes := m.mu.nodes()
	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	for name, s := range m.mu.states {
		is := s.status(name, nodes)
		gauge(bounds, float64(is.Min), name, "min")
		gauge(bounds, float64(is.Max), name, "max")
		gauge(targetSize, float64(is.Size), name)
		gauge(instances, float64(is.Nodes), name, "node")
		gauge(instances, float64(is.Pending-s.withoutStock()), name, "pending")
		gauge(instances, float64(s.withoutStock()), name, "out_of_stock")
		gauge(instances, float64(is.Failed), name, "failed")
		gauge(groupPrice, is.PricePerHour, name)
	}
}

// follow takes the groups' Nodes from a function until the call of its result.
func (m *Metrics) follow(nodes func() []*corev1.Node) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.nodes = nodes
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.mu.nodes = nil
	}
}

// see stores the state of a group, which is not changed any more.
func (m *Metrics) see(group string, s *state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.states[group] = s
}

// failed counts an instance that could not be created.
func (m *Metrics) failed(group string, f *Failure) { m.failures.WithLabelValues(group, f.Code).Inc() }

// registered counts an instance that has become a Node.
func (m *Metrics) registered(group string, i *instance, now time.Time) {
	if !i.Requested.IsZero() {
		m.created.WithLabelValues(group).Observe(now.Sub(i.Requested).Seconds())
	}
}
