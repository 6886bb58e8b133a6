package statefulset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
)

// count computes the status from the pods as they are after the pass.
func (p *pass) count() {
	s := appsv1.StatefulSetStatus{
		ObservedGeneration: p.set.Generation,
		CurrentRevision:    p.current.Name,
		UpdateRevision:     p.update.Name,
		CollisionCount:     p.status.CollisionCount,
		Conditions:         p.set.Status.Conditions,
	}
	add := func(pod *corev1.Pod) {
		if pod == nil {
			return
		}
		s.Replicas++
		if isRunningAndReady(pod) {
			s.ReadyReplicas++
			if p.isAvailable(pod) {
				s.AvailableReplicas++
			}
		}
		if pod.DeletionTimestamp != nil {
			return
		}
		if revisionOf(pod) == p.current.Name {
			s.CurrentReplicas++
		}
		if revisionOf(pod) == p.update.Name {
			s.UpdatedReplicas++
		}
	}
	for _, pod := range p.replicas {
		add(pod)
	}
	for _, m := range p.condemned {
		add(m.Pod)
	}
	p.status = s
}

// writeStatus writes the status if it has changed, after recording a completed update.
func (p *pass) writeStatus() error {
	s, n := &p.status, int32(replicasOf(p.set))
	if s.UpdatedReplicas == n && s.ReadyReplicas == n && s.Replicas == n {
		s.CurrentReplicas, s.CurrentRevision = s.UpdatedReplicas, s.UpdateRevision
	}
	if was := &p.set.Status; s.ObservedGeneration <= was.ObservedGeneration && sameCounts(s, was) {
		return nil
	}
	changed := *p.set // only the status differs, and it is replaced as a whole
	changed.Status = *s
	_, err := p.c.all.API.Namespace(p.set.Namespace).UpdateStatus(p.ctx, &changed)
	return client.IgnoreNotFound(err)
}

func sameCounts(a, b *appsv1.StatefulSetStatus) bool {
	return a.Replicas == b.Replicas && a.ReadyReplicas == b.ReadyReplicas && a.AvailableReplicas == b.AvailableReplicas &&
		a.CurrentReplicas == b.CurrentReplicas && a.UpdatedReplicas == b.UpdatedReplicas &&
		a.CurrentRevision == b.CurrentRevision && a.UpdateRevision == b.UpdateRevision
}

// nextAvailable returns the time until the next ready pod becomes available, or zero.
func (p *pass) nextAvailable() time.Duration {
	var next time.Duration
	for _, pod := range p.owned {
		if wait, ok := podcontrol.AvailableIn(pod, p.minReady(), p.now); ok && wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// isLive reports whether the revision is in use.
func (p *pass) isLive(r *appsv1.ControllerRevision) bool {
	return r.Name == p.current.Name || r.Name == p.update.Name ||
		slices.ContainsFunc(p.owned, func(pod *corev1.Pod) bool { return revisionOf(pod) == r.Name })
}
