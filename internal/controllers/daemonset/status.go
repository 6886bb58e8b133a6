package daemonset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
)

// writeStatus computes the status and writes it if it has changed. A pass that did not act, because of pending
// expectations, does not update observedGeneration.
func (p *pass) writeStatus(collisions int32, acted bool) error {
	was := &p.ds.Status
	s := appsv1.DaemonSetStatus{ObservedGeneration: was.ObservedGeneration, CollisionCount: was.CollisionCount, Conditions: was.Conditions}
	if acted {
		s.ObservedGeneration = p.ds.Generation
	}
	if collisions != 0 {
		s.CollisionCount = &collisions
	}
	for i := range p.nodes {
		p.countSite(&p.nodes[i], &s)
	}
	s.NumberUnavailable = s.DesiredNumberScheduled - s.NumberAvailable
	if same(&s, was) {
		return nil
	}
	changed := *p.ds // only the status differs, and it is replaced as a whole
	changed.Status = s
	_, err := p.c.all.API.Namespace(p.ds.Namespace).UpdateStatus(p.ctx, &changed)
	return client.IgnoreNotFound(err)
}

func (p *pass) countSite(n *site, s *appsv1.DaemonSetStatus) {
	switch {
	case n.node == nil:
	case !n.run:
		if len(n.pods) > 0 {
			s.NumberMisscheduled++
		}
	default:
		s.DesiredNumberScheduled++
		if len(n.pods) == 0 {
			return
		}
		s.CurrentNumberScheduled++
		oldest := n.pods[0]
		if podcontrol.IsReady(oldest) {
			s.NumberReady++
			if p.isAvailable(oldest) {
				s.NumberAvailable++
			}
		}
		if p.isUpdated(oldest) {
			s.UpdatedNumberScheduled++
		}
	}
}

func same(a, b *appsv1.DaemonSetStatus) bool {
	collisions := func(s *appsv1.DaemonSetStatus) int32 {
		if s.CollisionCount == nil {
			return 0
		}
		return *s.CollisionCount
	}
	return a.DesiredNumberScheduled == b.DesiredNumberScheduled && a.CurrentNumberScheduled == b.CurrentNumberScheduled &&
		a.NumberMisscheduled == b.NumberMisscheduled && a.NumberReady == b.NumberReady &&
		a.UpdatedNumberScheduled == b.UpdatedNumberScheduled && a.NumberAvailable == b.NumberAvailable &&
		a.NumberUnavailable == b.NumberUnavailable && a.ObservedGeneration <= b.ObservedGeneration && collisions(a) == collisions(b)
}

// isLive reports whether the revision is the present one or that of some pod.
func (p *pass) isLive(r *appsv1.ControllerRevision) bool {
	hash := r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	return hash == p.hash || slices.ContainsFunc(p.owned, func(pod *corev1.Pod) bool {
		return pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == hash
	})
}
