package admission

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Timer measures how long each plugin of a chain takes, under upstream's metric name. Most plugins take less time
// than a histogram of Prometheus' client needs for an observation, so the Timer counts by itself: two additions,
// and one clock reading for each plugin, which is the end of the one and the start of the next.
type Timer struct {
	began time.Time
	names []string
	// of maps a plugin's index in the chain to its index in names.
	of      []int
	tallies [][len(verbs)]atomic.Pointer[tallies] // by name and verb, made when the first one is added
}

// tallies are by step and outcome (rejected or not).
type tallies [steps][2]tally

type step int

const (
	admit step = iota
	validate
	steps
)

var (
	verbs     = [...]Verb{Create, Update, Delete, Connect}
	stepNames = [steps]string{"admit", "validate"}
	// bounds are upstream's buckets, in seconds.
	bounds = [...]float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}

	tookDesc = prometheus.NewDesc("apiserver_admission_controller_admission_duration_seconds",
		"How long an admission plugin took, in seconds, by operation and step.", []string{"name", "type", "operation", "rejected"}, nil)
)

// tally is a histogram: the count of each bucket, and the sum in nanoseconds.
type tally struct {
	in  [len(bounds) + 1]atomic.Uint64
	sum atomic.Int64
}

func (t *tally) add(d time.Duration) {
	n := 0
	for s := d.Seconds(); n < len(bounds) && s > bounds[n]; {
		n++
	}
	t.in[n].Add(1)
	t.sum.Add(int64(d))
}

// NewTimer returns a Timer for a chain.
func NewTimer(c Chain) *Timer {
	t := &Timer{began: time.Now()}
	for _, p := range c {
		n := slices.Index(t.names, p.Name())
		if n < 0 {
			n = len(t.names)
			t.names = append(t.names, p.Name())
		}
		t.of = append(t.of, n)
	}
	t.tallies = make([][len(verbs)]atomic.Pointer[tallies], len(t.names))
	return t
}

// now returns the time since the Timer was created; 0 for a nil Timer.
func (t *Timer) now() time.Duration {
	if t == nil {
		return 0
	}
	return time.Since(t.began)
}

// passed records the time since the previous plugin for the plugin at an index in the chain, and returns the
// present.
func (t *Timer) passed(place int, v Verb, s step, err error, since time.Duration) time.Duration {
	if t == nil {
		return 0
	}
	now := time.Since(t.began)
	refused := 0
	if err != nil {
		refused = 1
	}
	if verb := slices.Index(verbs[:], v); verb >= 0 {
		made(&t.tallies[t.of[place]][verb])[s][refused].add(now - since)
	}
	return now
}

// made returns the tallies, and makes them at the first call.
func made(p *atomic.Pointer[tallies]) *tallies {
	if t := p.Load(); t != nil {
		return t
	}
	p.CompareAndSwap(nil, &tallies{})
	return p.Load()
}

// Describe implements prometheus.Collector.
func (t *Timer) Describe(out chan<- *prometheus.Desc) { out <- tookDesc }

// Collect implements prometheus.Collector.
func (t *Timer) Collect(out chan<- prometheus.Metric) {
	for n, name := range t.names {
		for v, verb := range verbs {
			all := t.tallies[n][v].Load()
			if all == nil {
				continue
			}
			for s, step := range stepNames {
				for refused := range 2 {
					count, buckets := uint64(0), map[float64]uint64{}
					tally := &all[s][refused]
					for i := range tally.in {
						count += tally.in[i].Load()
						if i < len(bounds) {
							buckets[bounds[i]] = count
						}
					}
					if count > 0 {
						out <- prometheus.MustNewConstHistogram(tookDesc, count, time.Duration(tally.sum.Load()).Seconds(), buckets,
							name, step, string(verb), strconv.FormatBool(refused == 1))
					}
				}
			}
		}
	}
}
