package schedulerplugins

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// defaultPreemption is the built-in plugin that runs between the plugins at PostFilter, and defaultBinder the one at Bind.
const (
	defaultPreemption = "DefaultPreemption"
	defaultBinder     = "DefaultBinder"
)

// PostFilter runs the PostFilter plugins before or after the built-in preemption.
func (p *profile) PostFilter(_ *scheduler.Cluster, info *scheduler.PodInfo, e *scheduler.FitError, after bool) (r scheduler.Rescue) {
	passed, ran := false, false
	for _, name := range p.order["postFilter"] {
		if name == defaultPreemption {
			passed = true
		}
		of := p.plugins[name]
		if of == nil || passed != after {
			continue
		}
		if !ran {
			ran, r.Keep = true, !after // the built-in preemption has ended the nomination before
		}
		post := of.plugin.(fwk.PostFilterPlugin)
		var result *fwk.PostFilterResult
		var s *fwk.Status
		if err := guard(func() {
			result, s = post.PostFilter(p.cycle.ctx, p.cycle.state(), info.Pod, statuses{e, p.lister})
		}); err != nil {
			s = fwk.AsStatus(err)
		}
		if s.IsError() {
			p.log.Error("Status after running PostFilter plugins for pod", "error", s.AsError(), "plugin", name, "namespace", info.Pod.Namespace, "pod", info.Pod.Name)
		}
		if result != nil && result.Mode() != fwk.ModeNoop {
			r.Node, r.Keep = result.NominatedNodeName, false
		}
		if m := s.Message(); m != "" {
			if r.Message != "" {
				r.Message += ", "
			}
			r.Message += m
		}
		if s.IsSuccess() || s.IsError() || s.Code() == fwk.UnschedulableAndUnresolvable {
			r.Done = true
			break
		}
	}
	if r.Node != "" && p.pods != nil {
		p.pods.nominates(info.Pod, r.Node)
	}
	return r
}

// Permit runs the Permit plugins, and prepares the binding.
func (p *profile) Permit(_ *scheduler.Cluster, info *scheduler.PodInfo, n *scheduler.NodeInfo) (m scheduler.Permission) {
	cycle, pod := p.cycle, p.cycle.assumed(info.Pod, n.Name)
	cycle.state().group = nil
	limits := map[string]time.Duration{}
	for _, name := range p.order["permit"] {
		of := p.plugins[name]
		if of == nil {
			continue
		}
		var s *fwk.Status
		var limit time.Duration
		if err := guard(func() { s, limit = of.plugin.(fwk.PermitPlugin).Permit(cycle.ctx, cycle.state(), pod, n.Name) }); err != nil {
			s = fwk.AsStatus(err)
		}
		switch {
		case s.IsSuccess():
		case s.IsWait():
			limits[name] = min(limit, longestWait)
			m.Pending = append(m.Pending, of)
		case s.IsRejected():
			m.Status, m.By = of.noticed(pod, s), of
			return m
		default:
			m.Status = scheduler.Failed(fmt.Errorf("running Permit plugin %q: %w", name, s.AsError()))
			m.By = of
			return m
		}
	}
	if len(limits) > 0 {
		waiting := p.waiting.add(pod, limits)
		m.Wait = func(ctx context.Context) (scheduler.Status, scheduler.Filter) {
			defer p.waiting.remove(pod.UID)
			s := waiting.wait(ctx)
			if s.IsSuccess() {
				return scheduler.Status{}, nil
			}
			by := p.plugins[s.Plugin()]
			if by == nil {
				return scheduler.Failed(errors.New(s.Message())), nil
			}
			return statusOf(s), by
		}
	}
	if p.binds() {
		m.Bind = func(ctx context.Context) (bool, error) { return p.bind(ctx, cycle, pod, n.Name) }
	}
	m.Bound = func(ctx context.Context) {
		cycle.bound.Store(true)
		for _, name := range p.order["postBind"] {
			of := p.plugins[name]
			if of == nil {
				continue
			}
			if err := guard(func() { of.plugin.(fwk.PostBindPlugin).PostBind(ctx, cycle.state(), pod, n.Name) }); err != nil {
				p.log.Error("PostBind failed", "plugin", name, "namespace", pod.Namespace, "pod", pod.Name, "error", err)
			}
		}
	}
	return m
}

// binds reports whether a plugin may bind pods in place of the built-in one.
func (p *profile) binds() bool {
	for _, name := range p.order["bind"] {
		if name == defaultBinder {
			return false
		}
		if p.plugins[name] != nil {
			return true
		}
	}
	return false
}

// bind runs the Bind plugins that come before the built-in one; false: the built-in one binds the pod.
func (p *profile) bind(ctx context.Context, cycle *cycle, pod *corev1.Pod, node string) (bool, error) {
	for _, name := range p.order["bind"] {
		if name == defaultBinder {
			return false, nil
		}
		of := p.plugins[name]
		if of == nil {
			continue
		}
		var s *fwk.Status
		if err := guard(func() { s = of.plugin.(fwk.BindPlugin).Bind(ctx, cycle.state(), pod, node) }); err != nil {
			s = fwk.AsStatus(err)
		}
		switch {
		case s.IsSkip():
			continue
		case s.IsSuccess():
			return true, nil
		}
		return true, fmt.Errorf("running Bind plugin %q: %w", name, s.AsError())
	}
	return true, errors.New("bind status: all Bind plugins skipped the pod")
}

// statuses are the results of the filters for each node.
type statuses struct {
	*scheduler.FitError
	*lister
}

var _ fwk.NodeToStatusReader = statuses{}

// Get returns the status of a node; a node that no filter has checked cannot fit.
func (s statuses) Get(name string) *fwk.Status {
	if s.lister.cluster != nil {
		if n := s.lister.cluster.Node(name); n != nil {
			if v, checked := s.Statuses[n]; checked {
				code := fwk.Unschedulable
				if v.Unresolvable {
					code = fwk.UnschedulableAndUnresolvable
				}
				return fwk.NewStatus(code, v.Reasons...)
			}
		}
	}
	reasons := s.PreFilter.Reasons
	if len(reasons) > 0 && !s.PreFilter.Unresolvable {
		return fwk.NewStatus(fwk.Unschedulable, reasons...)
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasons...)
}

func (s statuses) NodesForStatusCode(all fwk.NodeInfoLister, code fwk.Code) (found []fwk.NodeInfo, err error) {
	nodes, err := all.List()
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if s.Get(n.Node().Name).Code() == code {
			found = append(found, n)
		}
	}
	return found, nil
}
