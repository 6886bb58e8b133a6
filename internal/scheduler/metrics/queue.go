package metrics

import "github.com/prometheus/client_golang/prometheus"

// The queues, as kube-scheduler calls them.
const (
	Active        = "active"
	Backoff       = "backoff"
	Unschedulable = "unschedulable"
	Gated         = "gated"
)

// Entered counts a pod that entered a queue because of an event.
func (m *Metrics) Entered(queue, event string) {
	if m == nil {
		return
	}
	key := [2]string{queue, event}
	c := m.entered[key]
	if c == nil {
		c = m.incoming.WithLabelValues(queue, event)
		m.entered[key] = c
	}
	c.Inc()
}

// Rejected adds n to the pods of a profile that wait because a plugin has rejected them.
func (m *Metrics) Rejected(plugin, profile string, n float64) {
	if m == nil {
		return
	}
	key := [2]string{plugin, profile}
	g := m.waiting[key]
	if g == nil {
		g = m.rejected.WithLabelValues(plugin, profile)
		m.waiting[key] = g
	}
	g.Add(n)
}

// Sizes are the numbers of pods in the queues, and of the objects in the model of the cluster.
type Sizes struct {
	Active, Backoff, Unschedulable, Gated int
	Nodes, Pods, AssumedPods              int
	PatchedPods                           int // whose statuses are to be patched, or are being patched
}

// Set stores the sizes for the next scrapes.
func (m *Metrics) Set(s Sizes) {
	if m == nil {
		return
	}
	for _, one := range []struct {
		gauge prometheus.Gauge
		n     int
	}{
		{m.active, s.Active}, {m.backoff, s.Backoff}, {m.unschedulable, s.Unschedulable}, {m.gated, s.Gated},
		{m.cachedNodes, s.Nodes}, {m.cachedPods, s.Pods}, {m.cachedAssumedPods, s.AssumedPods},
		{m.calls.bindings, s.AssumedPods}, {m.calls.patches, s.PatchedPods},
	} {
		one.gauge.Set(float64(one.n))
	}
}
