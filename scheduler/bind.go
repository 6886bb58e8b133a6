package scheduler

import (
	"context"
	"fmt"

	"fairlead.dev/client"
	"fairlead.dev/trace"
	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeLoop is the goroutine of a worker: it writes what it is given, until ctx ends.
func (s *Scheduler) writeLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-s.writes:
			f(ctx)
		}
	}
}

func (s *Scheduler) bind(ctx context.Context, p *assumedPod) {
	pod := p.PodInfo.Pod
	s.reports.cancel(ctx, pod.UID)
	err := traced(ctx, s.pods, pod, func(ctx context.Context) error {
		return s.pods.Namespace(pod.Namespace).CreateSubresource(ctx, pod.Name, "binding", &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: p.node},
		}, nil)
	})
	if ctx.Err() != nil {
		return // the next scheduler sees what became of it
	}
	if err != nil {
		s.send(func() { s.handleBindingError(p, fmt.Errorf("running Bind plugin %q: %w", "DefaultBinder", err)) })
		return
	}
	if p.release != nil {
		s.send(p.undo)
	}
	s.profileOf(p.QueuedPodInfo).events.Act(pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding",
		"Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, p.node)
}

// traced does something about a pod because of what the pod was when it was last seen.
func traced(ctx context.Context, pods client.Resource[*corev1.Pod], pod *corev1.Pod, f func(context.Context) error) error {
	w := &trace.Reconcile{Controller: pod.Spec.SchedulerName, Key: pod.Namespace + "/" + pod.Name, Causes: []int64{trace.Revision(pod.ResourceVersion)}}
	return pods.Trace().Do(ctx, w, f)
}
