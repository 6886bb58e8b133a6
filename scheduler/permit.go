package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
)

// permit asks the extension of the profile whether the pod may be bound to node n.
func (s *loop) permit(p *assumedPod, n *cache.NodeInfo) error {
	profile, start := s.profileOf(p.QueuedPodInfo), time.Now()
	p.permit = profile.Extension.Permit(s.cluster, p.PodInfo, n)
	v := p.permit.Status
	profile.Metrics.Ran(metrics.Permit, permitted(v), start)
	if !v.IsSuccess() {
		p.undo()
		return rejection(p.permit.By, v)
	}
	if p.permit.Wait != nil {
		s.queue.Watch(p.QueuedPodInfo, p.permit.Pending)
	}
	return nil
}

// rejection returns the error of a pod that a filter has rejected after a node was chosen.
func rejection(by framework.Filter, v framework.Status) error {
	if v.Failed {
		return errors.New(v.Reasons[0])
	}
	return framework.RejectedOn(by, v)
}

func permitted(v framework.Status) metrics.Status {
	switch {
	case v.IsSuccess():
		return metrics.Success
	case v.Failed:
		return metrics.Failed
	case v.Unresolvable:
		return metrics.RejectedForGood
	}
	return metrics.Rejected
}

// waitOnPermit waits until the plugins that delay the binding of a pod allow it; false: they reject it, and it goes back to
// the queue. ctx ends earlier than process, with the pod.
func (s *loop) waitOnPermit(ctx, process context.Context, p *assumedPod) bool {
	if p.permit.Wait == nil {
		return true
	}
	v, by := p.permit.Wait(ctx)
	if v.IsSuccess() {
		s.send(func() { s.queue.Unwatch(p.QueuedPodInfo) })
		return true
	}
	p.takeBack(process)
	err := rejection(by, v)
	if v.Failed {
		err = fmt.Errorf("waiting on permit for pod: %w", err)
	}
	s.send(func() { s.handleBindingError(p, err) })
	return false
}
