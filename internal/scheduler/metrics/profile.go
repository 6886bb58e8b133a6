package metrics

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Point is an extension point: a step at which plugins run.
type Point int

// The extension points that have plugins.
const (
	PreFilter Point = iota
	Filter
	PostFilter
	PreScore
	Score
	Reserve
	Permit
	PreBind
	Bind
	points
)

var pointNames = [points]string{"PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind"}

// A Status is the result of an extension point.
type Status int

// The results.
const (
	Success Status = iota
	Rejected
	RejectedForGood // also without the pods on the node
	Failed
	statuses
)

var statusNames = [statuses]string{"Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error"}

// StatusOf returns Success, or Failed if there is an error.
func StatusOf(err error) Status {
	if err != nil {
		return Failed
	}
	return Success
}

// A Profile counts the attempts for the pods of one profile.
type Profile struct {
	m    *Metrics
	name string
	// series are those in use, so that an observation looks up no labels.
	series [points][statuses]atomic.Pointer[prometheus.Observer]
	ended  [results]struct {
		count prometheus.Counter
		took  prometheus.Observer
	}
}

// The results of an attempt.
const (
	scheduled = iota
	unschedulable
	failed
	results
)

var resultNames = [results]string{"scheduled", "unschedulable", "error"}

// Profile returns the counters of a profile.
func (m *Metrics) Profile(name string) *Profile {
	p := &Profile{m: m, name: name}
	for i, result := range resultNames {
		p.ended[i].count, p.ended[i].took = m.attempts.WithLabelValues(result, name), m.attemptTook.WithLabelValues(result, name)
	}
	return p
}

// Ran counts a run of the plugins of a point that began at start, and returns its end.
func (p *Profile) Ran(point Point, status Status, start time.Time) (end time.Time) {
	if p == nil {
		return start
	}
	of := &p.series[point][status]
	observer := of.Load()
	if observer == nil {
		o := p.m.pointTook.WithLabelValues(pointNames[point], statusNames[status], p.name)
		observer = &o
		of.Store(observer)
	}
	end = time.Now()
	(*observer).Observe(end.Sub(start).Seconds())
	return end
}

// Placed counts the choice of a node, for which the attempt began at start.
func (p *Profile) Placed(start time.Time) { p.m.algorithmTook.Observe(time.Since(start).Seconds()) }

// Bound counts the last of the attempts of a pod, which has been bound now. The last attempt began
// at start, and the first one at first.
func (p *Profile) Bound(attempts int, start, first time.Time) {
	p.end(scheduled, start)
	p.m.podAttempts.Observe(float64(attempts))
	label := "15+"
	if attempts < 15 {
		label = strconv.Itoa(attempts)
	}
	p.m.podTook.WithLabelValues(label).Observe(time.Since(first).Seconds())
}

// Unschedulable counts an attempt that began at start and found no node.
func (p *Profile) Unschedulable(start time.Time) { p.end(unschedulable, start) }

// Failed counts an attempt that began at start and met an error.
func (p *Profile) Failed(start time.Time) { p.end(failed, start) }

func (p *Profile) end(result int, start time.Time) {
	p.ended[result].count.Inc()
	p.ended[result].took.Observe(time.Since(start).Seconds())
}

// Preempted counts a search for a node that fits after evictions, and its victims if it found one.
func (p *Profile) Preempted(found bool, victims int) {
	p.m.preemptions.Inc()
	if found {
		p.m.victims.Observe(float64(victims))
	}
}
