package schedulerplugins

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// cycle is one attempt to place a pod.
type cycle struct {
	ctx        context.Context
	pod        *scheduler.PodInfo
	run        *filterRun // that of the attempt itself
	dry        *filterRun // that of the last simulation; nil before
	scoreError error
	copy       *corev1.Pod // the pod with the chosen node
	bound      atomic.Bool
}

// filterRun is one run of the filters: that of the attempt, or of a simulated preemption on the changed cluster.
type filterRun struct {
	state *cycleState
	ran   map[*plugin]bool
	names map[*plugin]*fwk.PreFilterResult
}

func newRun() *filterRun {
	return &filterRun{state: &cycleState{}, ran: map[*plugin]bool{}, names: map[*plugin]*fwk.PreFilterResult{}}
}

func (r *filterRun) skip(name string) {
	if r.state.skipFilter == nil {
		r.state.skipFilter = sets.New[string]()
	}
	r.state.skipFilter.Insert(name)
}

// state returns the state of the attempt.
func (c *cycle) state() *cycleState { return c.run.state }

// assumed returns the pod with its node, as the points from Reserve on see it.
func (c *cycle) assumed(pod *corev1.Pod, node string) *corev1.Pod {
	if c.copy == nil || c.copy.Spec.NodeName != node {
		c.copy = pod.DeepCopy()
		c.copy.Spec.NodeName = node
	}
	return c.copy
}

// Begin starts an attempt.
func (p *profile) Begin(c *scheduler.Cluster, info *scheduler.PodInfo) {
	p.lister.cluster = c
	p.catchUp(info.Pod)
	p.cycle = &cycle{ctx: p.ctx, pod: info, run: newRun()}
	p.cycle.run.state.group = p.group
	delete(p.pending, info.Pod.UID)
}

// BeginGroup starts the attempt for a group.
func (p *profile) BeginGroup() (end func()) {
	p.group = &groupState{}
	return func() { p.group = nil }
}

// Attempt returns the attempt.
func (p *profile) Attempt() any { return p.cycle }

// Resume goes on with an attempt.
func (p *profile) Resume(attempt any) { p.cycle = attempt.(*cycle) }

// runOf returns the run of which a plugin's PreFilter is part: the second call in a run begins the next one.
func (p *profile) runOf(of *plugin) *filterRun {
	run := p.cycle.run
	if run.ran[of] {
		if p.cycle.dry == nil || p.cycle.dry.ran[of] {
			p.cycle.dry = newRun()
			p.cycle.dry.state.group = p.group
		}
		run = p.cycle.dry
	}
	run.ran[of] = true
	return run
}
