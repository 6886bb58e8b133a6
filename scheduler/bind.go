package scheduler

import (
	"context"

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

func (s *Scheduler) bind(ctx context.Context, p *placement) {
	pod := p.info.Pod
	s.reports.cancel(ctx, pod.UID)
	err := s.pods.Namespace(pod.Namespace).Post(ctx, pod.Name, "binding", &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: p.node},
	}, nil)
	if ctx.Err() != nil {
		return // the next scheduler sees what became of it
	}
	if err != nil {
		s.tell(func() { s.unbound(p, err) })
		return
	}
	if p.after != nil {
		s.tell(p.released)
	}
	s.profileOf(p.waiting).events.Event(pod, corev1.EventTypeNormal, "Scheduled",
		"Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, p.node)
}
