package scheduler

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/queue"
)

// schedule runs one scheduling cycle: it gives the pod a node, or puts the pod back. A pod in which extenders are interested
// gets its node when they have answered.
func (s *loop) schedule(ctx context.Context, w *queue.QueuedPodInfo) {
	if len(s.interested(w.PodInfo.Pod)) > 0 {
		s.consult(ctx, &question{QueuedPodInfo: w, pod: w.PodInfo.Pod})
		return
	}
	s.place(ctx, w, nil)
}

// place gives the pod a node, or puts it back. v is the verdict of the extenders that are interested in it. It reports false, and does
// neither, if the extenders leave no node and were not asked about all that are feasible.
func (s *loop) place(ctx context.Context, w *queue.QueuedPodInfo, v *extenders.Verdict) bool {
	profile := s.profileOf(w)
	s.asking.plugin.Verdict = v
	n, err := profile.Place(s.cluster, w.PodInfo)
	s.asking.plugin.Verdict = nil
	if isStale(err) {
		return false
	}
	if err != nil {
		s.handleUnschedulable(ctx, w, err)
		return true
	}
	profile.Metrics.Placed(w.Began)
	p := &assumedPod{QueuedPodInfo: w, node: n.Name}
	start := time.Now()
	err = s.reserve(p, n)
	profile.Metrics.Ran(metrics.Reserve, reserved(err), start)
	if err == nil && profile.Extension != nil {
		err = s.permit(p, n)
	}
	if err != nil {
		s.handleUnschedulable(ctx, w, err)
		return true
	}
	s.endPodNomination(w)
	s.assume(p)
	s.cluster.AddPod(w.PodInfo, n.Name)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: n, Pod: w.PodInfo}, time.Now())
	s.beginBinding(ctx, p)
	return true
}

// beginBinding has an assumed pod bound, after what has to come before that.
func (s *loop) beginBinding(ctx context.Context, p *assumedPod) {
	if p.preBind != nil || p.permit.Wait != nil {
		s.preBind(ctx, p)
		return
	}
	if writing := s.reports.writing(p.PodInfo.Pod.UID); writing != nil {
		s.preBinding.Go(func() { s.bindAfter(ctx, p, writing) })
		return
	}
	s.write(ctx, func(ctx context.Context) { s.bind(ctx, p) })
}

// reserve calls the Reservers among the filters for node n.
func (s *loop) reserve(p *assumedPod, n *cache.NodeInfo) error {
	for _, f := range s.profileOf(p.QueuedPodInfo).Filters {
		r, reserves := f.(framework.Reserver)
		if !reserves {
			continue
		}
		res, v := r.Reserve(s.cluster, p.PodInfo, n)
		if !v.IsSuccess() {
			p.undo()
			if v.Failed {
				return fmt.Errorf("running Reserve plugin %q: %s", f.Name(), v.Reasons[0])
			}
			return framework.RejectedOn(f, v)
		}
		if before := res.PreBind; before != nil {
			p.preBind = append(p.preBind, func(ctx context.Context) error {
				if err := before(ctx); err != nil {
					return fmt.Errorf("running PreBind plugin %q: %w", f.Name(), err)
				}
				return nil
			})
		}
		if res.Unreserve != nil {
			p.unreserve = append(p.unreserve, res.Unreserve)
		}
		if res.Release != nil {
			p.release = append(p.release, res.Release)
		}
	}
	return nil
}

// reserved returns the result of the Reserve plugins.
func reserved(err error) metrics.Status {
	if err != nil {
		return metrics.Rejected
	}
	return metrics.Success
}
