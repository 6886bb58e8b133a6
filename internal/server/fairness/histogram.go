package fairness

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// histogram counts values by buckets. The level's lock guards it, which is cheaper than Prometheus' atomics.
type histogram struct {
	counts []uint64 // not cumulative; the last is above all bounds
	sum    float64
	n      uint64
}

func (h *histogram) observe(bounds []float64, v float64) {
	if h.counts == nil {
		h.counts = make([]uint64, len(bounds)+1)
	}
	i := 0
	for i < len(bounds) && v > bounds[i] {
		i++
	}
	h.counts[i]++
	h.sum += v
	h.n++
}

// metric returns the histogram for Prometheus, nil if it is empty.
func (h *histogram) metric(d *prometheus.Desc, bounds []float64, labels ...string) prometheus.Metric {
	if h.n == 0 {
		return nil
	}
	return constant(d, h.counts, bounds, h.n, h.sum, labels)
}

func constant(d *prometheus.Desc, counts []uint64, bounds []float64, n uint64, sum float64, labels []string) prometheus.Metric {
	cumulative, total := make(map[float64]uint64, len(bounds)), uint64(0)
	for i, bound := range bounds {
		total += counts[i]
		cumulative[bound] = total
	}
	return prometheus.MustNewConstHistogram(d, n, sum, cumulative, labels...)
}

// ratio is a histogram over time: of the fraction of a limit that a quantity is, with one observation for each nanosecond.
type ratio struct {
	bounds []float64
	spent  []uint64 // nanoseconds by bucket
	sum    float64
	n      uint64

	value  float64
	bucket int
	since  time.Time
}

func newRatio(bounds []float64, t time.Time) ratio {
	return ratio{bounds: bounds, spent: make([]uint64, len(bounds)+1), since: t}
}

// set notes that the quantity is x of a limit from t on.
func (r *ratio) set(t time.Time, x, limit float64) {
	r.pass(t)
	if value := x / limit; value != r.value {
		r.value = value
		r.bucket, _ = slices.BinarySearch(r.bounds, value)
	}
}

func (r *ratio) pass(t time.Time) {
	dt := t.Sub(r.since)
	if dt <= 0 {
		return
	}
	r.since = t
	r.spent[r.bucket] += uint64(dt)
	r.n += uint64(dt)
	r.sum += r.value * float64(dt)
}

// metric returns the histogram up to t for Prometheus.
func (r *ratio) metric(t time.Time, d *prometheus.Desc, labels ...string) prometheus.Metric {
	r.pass(t)
	return constant(d, r.spent, r.bounds, r.n, r.sum, labels)
}
