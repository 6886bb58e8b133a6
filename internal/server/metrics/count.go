package metrics

import (
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counter is a number that only grows.
type counter struct{ atomic.Uint64 }

// Inc adds one.
func (c *counter) Inc() { c.Add(1) }

// gauge is a number that grows and falls.
type gauge struct{ atomic.Int64 }

// Inc adds one, and Dec takes one away.
func (g *gauge) Inc() { g.Add(1) }
func (g *gauge) Dec() { g.Add(-1) }

// scale is the buckets of a kind of histogram, whose values are whole numbers.
type scale struct {
	// bounds are the inclusive upper bounds of the buckets, of which the last one has none.
	bounds []int64
	// unit is how many of them are one in the metric.
	unit float64
}

// histogram counts values by bucket. A zero histogram does not count.
type histogram struct {
	scale  *scale
	counts []atomic.Uint64
	sum    atomic.Int64
}

func newHistogram(s *scale) histogram {
	return histogram{scale: s, counts: make([]atomic.Uint64, len(s.bounds)+1)}
}

// Observe counts a value.
func (h *histogram) Observe(v int64) {
	if h.scale == nil {
		return
	}
	at, _ := slices.BinarySearch(h.scale.bounds, v)
	h.counts[at].Add(1)
	h.sum.Add(v)
}

// counted is the content of one histogram, or of several.
type counted struct {
	scale   *scale
	buckets map[float64]uint64 // cumulative
	count   uint64
	sum     float64
}

// add adds the content of a histogram that is not zero.
func (c *counted) add(h *histogram) {
	if c.buckets == nil {
		c.scale, c.buckets = h.scale, make(map[float64]uint64, len(h.scale.bounds))
	}
	c.sum += float64(h.sum.Load()) / h.scale.unit
	below := uint64(0)
	for i := range h.counts {
		below += h.counts[i].Load()
		if i < len(h.scale.bounds) {
			c.buckets[float64(h.scale.bounds[i])/h.scale.unit] += below
		}
	}
	c.count += below
}

func (c *counted) metric(d *prometheus.Desc, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstHistogram(d, c.count, c.sum, c.buckets, labels...)
}
