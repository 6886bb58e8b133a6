package workqueue

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics shows queues to Prometheus under the names that Kubernetes' own components
// and controller-runtime use (workqueue_depth, workqueue_adds_total and the others), with
// the queue's name as the label "name", so that existing dashboards work. Make one for
// a registry and give it to every queue:
//
//	m := workqueue.NewMetrics()
//	registry.MustRegister(m)
//	q := workqueue.New(workqueue.Options[string]{Name: "web", Metrics: m})
//
// Of several queues with one name the newest is shown. It is safe for concurrent use.
type Metrics struct {
	mu     sync.Mutex // before any queue's
	queues map[string]watchedQueue
}

// watchedQueue is one queue as Metrics knows it.
type watchedQueue struct {
	queue interface{ counts() counts }
	*histograms
}

// histograms are observed at once; all other metrics are computed on each scrape.
type histograms struct {
	waited, worked prometheus.Histogram
}

// counts is a queue's state at one moment.
type counts struct {
	depth         int
	working       int
	delayed       int
	next          time.Duration // until the first delayed key is ready
	adds, retries uint64
	unfinished    time.Duration // how long all that is being worked on has been so, added up
	longest       time.Duration
}

// Stats is a queue's state at one moment, as its metrics show it.
type Stats struct {
	// Depth is how many keys wait for a worker, Working how many are being worked on, and Delayed how many wait for their
	// time. Next is the time until the first of these is ready.
	Depth, Working, Delayed int
	Next                    time.Duration
	// Adds is how often a key was made ready, Retries how often because it had failed.
	Adds, Retries uint64
	// Unfinished is how long all that is being worked on has been so, added up, and Longest
	// how long that which has been so longest; both 0 without Options.Times or Metrics.
	Unfinished, Longest time.Duration
}

// Stats is the state now.
func (q *Queue[K]) Stats() Stats {
	c := q.counts()
	return Stats{c.depth, c.working, c.delayed, c.next, c.adds, c.retries, c.unfinished, c.longest}
}

// NewMetrics returns Metrics without queues.
func NewMetrics() *Metrics { return &Metrics{queues: map[string]watchedQueue{}} }

// buckets are upstream's: ten nanoseconds to ten seconds, each ten times the one before.
var buckets = prometheus.ExponentialBuckets(10e-9, 10, 10)

var (
	name = []string{"name"}

	depthDesc      = prometheus.NewDesc("workqueue_depth", "How many keys are ready and wait for a worker", name, nil)
	addsDesc       = prometheus.NewDesc("workqueue_adds_total", "How often a key was made ready", name, nil)
	retriesDesc    = prometheus.NewDesc("workqueue_retries_total", "How often a key was added again because it failed", name, nil)
	unfinishedDesc = prometheus.NewDesc("workqueue_unfinished_work_seconds", "How long the keys being worked on have been so, added up; it grows by the second for every worker that is stuck", name, nil)
	longestDesc    = prometheus.NewDesc("workqueue_longest_running_processor_seconds", "How long the worker that has been at its key longest has been so", name, nil)
)

func (m *Metrics) watch(name string, q interface{ counts() counts }) *histograms {
	histogram := func(metric, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: metric, Help: help, Buckets: buckets, ConstLabels: prometheus.Labels{"name": name},
		})
	}
	h := &histograms{
		waited: histogram("workqueue_queue_duration_seconds", "How long keys were ready before a worker took them"),
		worked: histogram("workqueue_work_duration_seconds", "How long workers took for a key"),
	}
	m.mu.Lock()
	m.queues[name] = watchedQueue{q, h}
	m.mu.Unlock()
	return h
}

// Describe sends no descriptors, since the set of queues changes with time.
func (m *Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect sends the present state of every queue.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, w := range m.queues {
		c := w.queue.counts()
		gauge := func(d *prometheus.Desc, v float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		count := func(d *prometheus.Desc, v uint64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), name)
		}
		gauge(depthDesc, float64(c.depth))
		count(addsDesc, c.adds)
		count(retriesDesc, c.retries)
		gauge(unfinishedDesc, c.unfinished.Seconds())
		gauge(longestDesc, c.longest.Seconds())
		out <- w.waited
		out <- w.worked
	}
}

// counts returns the queue's state now.
func (q *Queue[K]) counts() counts {
	q.lock()
	defer q.unlock()
	c := q.mu.counts
	c.depth, c.working, c.delayed = q.mu.order.n, int(q.mu.working), q.mu.delays.n
	if c.delayed > 0 {
		c.next = max(0, q.mu.delays.first()-time.Since(q.begun))
	}
	if !q.mu.keys.times {
		return c
	}
	now, left := time.Since(q.begun), q.mu.working
	for _, p := range q.mu.keys.pages {
		for i := range int32(size) {
			if p == nil || left == 0 {
				break
			}
			if p.entries[i].state&working != 0 {
				long := now - p.since[i]
				c.unfinished += long
				c.longest = max(c.longest, long)
				left--
			}
		}
	}
	return c
}
