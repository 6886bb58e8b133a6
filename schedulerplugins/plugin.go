package schedulerplugins

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// plugin is a plugin in use by a profile: a Filter of the scheduler for the points from PreEnqueue to PreBind.
type plugin struct {
	*profile
	name   string
	plugin fwk.Plugin
	events []registration
	on     map[string]bool // the points at which it is enabled
}

var (
	_ scheduler.NodeNameFilter = &plugin{}
	_ scheduler.Reserver       = &plugin{}
	_ scheduler.PreEnqueuer    = &plugin{}
)

func (p *plugin) Name() string { return p.name }

// statusOf turns the status of a plugin into the scheduler's.
func statusOf(s *fwk.Status) scheduler.Status {
	switch s.Code() {
	case fwk.Success, fwk.Skip:
		return scheduler.Status{}
	case fwk.Unschedulable, fwk.Pending:
		return scheduler.Status{Reasons: reasonsOf(s)}
	case fwk.UnschedulableAndUnresolvable:
		return scheduler.Status{Reasons: reasonsOf(s), Unresolvable: true}
	case fwk.Wait:
		return scheduler.Failed(fmt.Errorf("status Wait, which only Permit may return"))
	}
	return scheduler.Failed(s.AsError())
}

// reasonsOf returns at least one reason, since a Status without any is success.
func reasonsOf(s *fwk.Status) []string {
	if reasons := s.Reasons(); len(reasons) > 0 {
		return reasons
	}
	return []string{""}
}

// PreEnqueue reports whether the plugin lets a pod be tried.
func (p *plugin) PreEnqueue(c *scheduler.Cluster, info *scheduler.PodInfo) bool {
	of, has := p.plugin.(fwk.PreEnqueuePlugin)
	if !has || !p.on["preEnqueue"] {
		return true
	}
	p.lister.cluster = c
	var s *fwk.Status
	if err := guard(func() { s = of.PreEnqueue(p.ctx, info.Pod) }); err != nil {
		s = fwk.AsStatus(err)
	}
	if s.IsError() {
		p.log.Error("Unexpected error running PreEnqueue plugin", "error", s.AsError(), "plugin", p.name, "namespace", info.Pod.Namespace, "pod", info.Pod.Name)
	}
	return s.IsSuccess()
}

// PreFilter runs the plugin's PreFilter, and returns its Filter.
func (p *plugin) PreFilter(c *scheduler.Cluster, info *scheduler.PodInfo) (scheduler.FilterFunc, scheduler.Status) {
	run := p.profile.runOf(p)
	if of, has := p.plugin.(fwk.PreFilterPlugin); has && p.on["preFilter"] {
		var result *fwk.PreFilterResult
		var s *fwk.Status
		if err := guard(func() { result, s = of.PreFilter(p.cycle.ctx, run.state, info.Pod, p.lister.refresh()) }); err != nil {
			s = fwk.AsStatus(err)
		}
		if s.IsSkip() {
			run.skip(p.name)
			return nil, scheduler.Status{}
		}
		if v := p.noticed(info.Pod, s); !v.IsSuccess() {
			return nil, v
		}
		if !result.AllNodes() {
			run.names[p] = result
		}
	}
	of, has := p.plugin.(fwk.FilterPlugin)
	if !has || !p.on["filter"] {
		return nil, scheduler.Status{}
	}
	p.lister.refresh()
	ctx, state, pod := p.cycle.ctx, run.state, info.Pod
	return func(n *scheduler.NodeInfo) scheduler.Status {
		return p.filter(ctx, of, state, pod, p.lister.of(n))
	}, scheduler.Status{}
}

func (p *plugin) filter(ctx context.Context, of fwk.FilterPlugin, state fwk.CycleState, pod *corev1.Pod, n fwk.NodeInfo) (v scheduler.Status) {
	if err := guard(func() { v = p.noticed(pod, of.Filter(ctx, state, pod, n)) }); err != nil {
		return scheduler.Failed(err)
	}
	return v
}

// noticed turns a status into the scheduler's, and remembers a pod that the plugin lets wait without a penalty.
func (p *plugin) noticed(pod *corev1.Pod, s *fwk.Status) scheduler.Status {
	if s.Code() == fwk.Pending {
		p.pending[pod.UID] = true
	}
	return statusOf(s)
}

// NodeNames returns the nodes that the PreFilter of this attempt has named.
func (p *plugin) NodeNames(*scheduler.PodInfo) ([]string, bool) {
	result := p.cycle.run.names[p]
	if result == nil {
		return nil, false
	}
	names := result.NodeNames.UnsortedList()
	slices.Sort(names)
	return names, true
}

// Reserve runs the plugin's Reserve, and prepares its PreBind.
func (p *plugin) Reserve(_ *scheduler.Cluster, info *scheduler.PodInfo, n *scheduler.NodeInfo) (r scheduler.Reservation, v scheduler.Status) {
	cycle, pod := p.cycle, p.cycle.assumed(info.Pod, n.Name)
	if of, has := p.plugin.(fwk.ReservePlugin); has && p.on["reserve"] {
		back := sync.OnceFunc(func() {
			if err := guard(func() { of.Unreserve(cycle.ctx, cycle.state(), pod, n.Name) }); err != nil {
				p.log.Error("Unreserve failed", "plugin", p.name, "namespace", pod.Namespace, "pod", pod.Name, "error", err)
			}
		})
		var s *fwk.Status
		if err := guard(func() { s = of.Reserve(cycle.ctx, cycle.state(), pod, n.Name) }); err != nil {
			s = fwk.AsStatus(err)
		}
		if v := p.noticed(pod, s); !v.IsSuccess() {
			back()
			return r, v
		}
		r.Unreserve = func(context.Context) { back() }
		r.Release = func() {
			if !cycle.bound.Load() {
				back()
			}
		}
	}
	if of, has := p.plugin.(fwk.PreBindPlugin); has && p.on["preBind"] {
		var s *fwk.Status
		if err := guard(func() { _, s = of.PreBindPreFlight(cycle.ctx, cycle.state(), pod, n.Name) }); err != nil {
			s = fwk.AsStatus(err)
		}
		switch {
		case s.IsSkip():
		case !s.IsSuccess():
			if r.Release != nil {
				r.Release()
			}
			return scheduler.Reservation{}, scheduler.Failed(fmt.Errorf("running PreBindPreFlight plugin %q: %w", p.name, s.AsError()))
		default:
			r.PreBind = func(ctx context.Context) error { return p.preBind(ctx, of, cycle, pod, n.Name) }
		}
	}
	return r, v
}

func (p *plugin) preBind(ctx context.Context, of fwk.PreBindPlugin, cycle *cycle, pod *corev1.Pod, node string) (err error) {
	ctx, end := p.preBinding.start(ctx, pod.UID)
	defer end()
	if missed := guard(func() { err = of.PreBind(ctx, cycle.state(), pod, node).AsError() }); missed != nil {
		return missed
	}
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
