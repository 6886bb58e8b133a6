package metrics

import "github.com/prometheus/client_golang/prometheus"

// The queues, as kube-scheduler calls them.
const (
	Active        = "active"
	Backoff       = "backoff"
	Unschedulable = "unschedulable"
	Gated         = "gated"
)

// The types of entries of a queue: pods that are not of a group, and groups.
const (
	alone = "pod"
	group = "podgroup"
)

// entry is the series of an event that moves pods into a queue.
type entry struct{ pods, alone, groups prometheus.Counter }

// Entered counts a pod, or a group of so many pods, that entered a queue because of an event.
func (m *Metrics) Entered(queue, event string, pods int, isGroup bool) {
	if m == nil {
		return
	}
	key := [2]string{queue, event}
	c, known := m.entered[key]
	if !known {
		c = entry{m.incoming.WithLabelValues(queue, event), m.incomingEntities.WithLabelValues(queue, event, alone), nil}
		m.entered[key] = c
	}
	c.pods.Add(float64(pods))
	if !isGroup {
		c.alone.Inc()
		return
	}
	if c.groups == nil {
		c.groups = m.incomingEntities.WithLabelValues(queue, event, group)
		m.entered[key] = c
	}
	c.groups.Inc()
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

// Size counts the entries of a queue: all pods, the pod groups that they form, and the pods that are not of a group.
type Size struct{ Pods, Groups, Alone int }

// Plus returns the sum of two sizes.
func (s Size) Plus(o Size) Size { return Size{s.Pods + o.Pods, s.Groups + o.Groups, s.Alone + o.Alone} }

// Minus returns the difference of two sizes.
func (s Size) Minus(o Size) Size {
	return Size{s.Pods - o.Pods, s.Groups - o.Groups, s.Alone - o.Alone}
}

// Sizes are those of the queues, and the numbers of objects in the model of the cluster.
type Sizes struct {
	Active, Backoff, Unschedulable, Gated Size
	Nodes, Pods, AssumedPods              int
	PatchedPods                           int // whose statuses are to be patched, or are being patched
}

// gauges are the series of a queue.
type gauges struct{ pods, groups, alone prometheus.Gauge }

func (g *gauges) set(s Size) {
	g.pods.Set(float64(s.Pods))
	g.groups.Set(float64(s.Groups))
	g.alone.Set(float64(s.Alone))
}

// Set stores the sizes for the next scrapes.
func (m *Metrics) Set(s Sizes) {
	if m == nil {
		return
	}
	m.active.set(s.Active)
	m.backoff.set(s.Backoff)
	m.unschedulable.set(s.Unschedulable)
	m.gated.set(s.Gated)
	for _, one := range []struct {
		gauge prometheus.Gauge
		n     int
	}{
		{m.cachedNodes, s.Nodes}, {m.cachedPods, s.Pods}, {m.cachedAssumedPods, s.AssumedPods},
		{m.calls.bindings, s.AssumedPods}, {m.calls.patches, s.PatchedPods},
	} {
		one.gauge.Set(float64(one.n))
	}
}
