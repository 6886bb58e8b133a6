package daemonset

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/controllers/podcontrol"
)

// tend decides which pods a node lacks and which are surplus, rolling updates aside.
func (p *pass) tend(s *site) {
	switch {
	case s.node == nil:
		// Placed pods belong to the pod garbage collector; the others are never placed.
		for _, pod := range s.pods {
			if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
				p.remove = append(p.remove, pod)
			}
		}
	case s.run && len(s.pods) == 0:
		p.create = append(p.create, s.name)
	case s.stay:
		p.prune(s)
	default:
		for _, pod := range s.pods {
			if pod.DeletionTimestamp == nil {
				p.remove = append(p.remove, pod)
			}
		}
	}
}

// prune removes the finished pods of a node and those beyond the first; with surge it allows a new one beside an
// old one.
func (p *pass) prune(s *site) {
	var running []*corev1.Pod
	for _, pod := range s.pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodFailed:
			if wait := p.c.failures.wait(p.k, p.ds.Generation, s.name, p.now); wait > 0 {
				p.wake(wait)
				continue
			}
			p.c.rec.Event(p.ds, corev1.EventTypeWarning, "FailedDaemonPod",
				"Found failed daemon pod %s/%s on node %s, will try to kill it", pod.Namespace, pod.Name, s.name)
			p.remove = append(p.remove, pod)
		case pod.Status.Phase == corev1.PodSucceeded:
			p.c.rec.Event(p.ds, corev1.EventTypeNormal, "SucceededDaemonPod",
				"Found succeeded daemon pod %s/%s on node %s, will try to delete it", pod.Namespace, pod.Name, s.name)
			p.remove = append(p.remove, pod)
		default:
			running = append(running, pod)
		}
	}
	switch {
	case p.surge == 0:
		if len(running) > 1 {
			p.remove = append(p.remove, running[1:]...)
		}
	case len(running) == 0 && s.run:
		p.create = append(p.create, s.name)
	case len(running) > 1:
		p.pruneSurge(running)
	}
}

// pruneSurge keeps the oldest new and the oldest old pod, the latter only while it is available and the new one is
// not.
func (p *pass) pruneSurge(running []*corev1.Pod) {
	var fresh, old *corev1.Pod
	for _, pod := range running {
		switch updated := p.isUpdated(pod); {
		case updated && fresh == nil:
			fresh = pod
		case !updated && old == nil:
			old = pod
		default:
			p.remove = append(p.remove, pod)
		}
	}
	if fresh != nil && old != nil && (!podcontrol.IsReady(old) || p.isAvailable(fresh)) {
		p.remove = append(p.remove, old)
	}
}
