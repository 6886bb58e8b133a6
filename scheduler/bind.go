package scheduler

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/metrics"
)

func (s *loop) bind(ctx context.Context, p *assumedPod) {
	pod, profile, start := p.PodInfo.Pod, s.profileOf(p.QueuedPodInfo), time.Now()
	s.reports.cancel(ctx, pod.UID)
	bindError := func(err error) error { return fmt.Errorf("running Bind plugin %q: %w", "DefaultBinder", err) }
	err := traced(ctx, s.pods, pod, func(ctx context.Context) error {
		if bound, err := s.bindByExtender(ctx, p); bound {
			bindError = func(err error) error { return err }
			return err
		}
		if p.permit.Bind != nil {
			if bound, err := p.permit.Bind(ctx); bound {
				bindError = func(err error) error { return err }
				return err
			}
		}
		return s.pods.Namespace(pod.Namespace).CreateSubresource(ctx, pod.Name, "binding", &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: p.node},
		}, nil)
	})
	if ctx.Err() != nil {
		return // the next scheduler learns the outcome from the watch
	}
	profile.Metrics.Ran(metrics.Bind, metrics.StatusOf(err), start)
	s.metrics.Called(metrics.PodBinding, err, start)
	if err != nil {
		p.takeBack(ctx)
		s.send(func() { s.handleBindingError(p, bindError(err)) })
		return
	}
	profile.Metrics.Bound(p.Attempts, p.Began, p.First)
	if p.permit.Bound != nil {
		p.permit.Bound(ctx)
	}
	if p.release != nil {
		s.send(p.undo)
	}
	profile.events.Act(pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding",
		"Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, p.node)
}

// preBind runs the PreBind functions on a goroutine of its own, and then has a worker bind. Meanwhile status.nominatedNodeName tells observers which node was chosen.
func (s *loop) preBind(ctx context.Context, p *assumedPod) {
	before, cancel := context.WithCancel(ctx)
	p.cancel = cancel
	s.preBinding.Go(func() {
		s.writeNominatedNode(before, p)
		if !s.waitOnPermit(before, ctx, p) {
			return
		}
		start := time.Now()
		err := p.runPreBind(before)
		s.profileOf(p.QueuedPodInfo).Metrics.Ran(metrics.PreBind, metrics.StatusOf(err), start)
		if err != nil {
			p.takeBack(ctx)
			s.send(func() { s.handleBindingError(p, err) })
			return
		}
		s.bindLater(ctx, p)
	})
}

// bindLater has a worker bind a pod. It waits for one, and so must not be called by the loop.
func (s *loop) bindLater(ctx context.Context, p *assumedPod) {
	select {
	case s.writes <- func(ctx context.Context) { s.bind(ctx, p) }:
	case <-ctx.Done():
	}
}

// bindAfter binds a pod when a write of its condition is done, so that no worker waits for that.
func (s *loop) bindAfter(ctx context.Context, p *assumedPod, writing <-chan struct{}) {
	select {
	case <-writing:
		s.bindLater(ctx, p)
	case <-ctx.Done():
	}
}

// writeNominatedNode writes the chosen node to the pod's status. If that fails, the pod is bound
// nevertheless.
func (s *loop) writeNominatedNode(ctx context.Context, p *assumedPod) {
	pod := p.PodInfo.Pod
	s.reports.cancel(ctx, pod.UID)
	if pod.Status.NominatedNodeName == p.node {
		return
	}
	var written *corev1.Pod
	start := time.Now()
	err := traced(ctx, s.pods, pod, func(ctx context.Context) (err error) {
		written, err = s.pods.Namespace(pod.Namespace).Patch(ctx, pod.Name, client.StrategicPatch(map[string]any{
			"metadata": map[string]any{"uid": pod.UID},
			"status":   map[string]any{"nominatedNodeName": p.node},
		}).On("status"))
		return err
	})
	s.metrics.Called(metrics.PodStatusPatch, err, start)
	if err != nil {
		return
	}
	info := cache.NewPodInfo(written)
	s.send(func() {
		if s.assumed[pod.UID] == p && p.Latest == nil {
			p.Latest = info // so that handleBindingError clears nominatedNodeName
		}
	})
}
