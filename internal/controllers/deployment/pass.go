package deployment

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// pass is one reconciliation of one Deployment, on one goroutine: its working copies and findings.
type pass struct {
	c   *deployments
	ctx context.Context
	d   *appsv1.Deployment      // our copy; its status becomes the one to be written
	was appsv1.DeploymentStatus // as read
	new *appsv1.ReplicaSet      // the one with d's template, or nil
	old []*appsv1.ReplicaSet    // all others, oldest first

	// rollingOut is set if progress is judged in this pass; a pass that only scales or pauses does not judge it.
	rollingOut bool
	// revised is set if the Deployment's revision annotation must be written.
	revised bool
}

func newPass(c *deployments, ctx context.Context, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) *pass {
	p := &pass{c: c, ctx: ctx, d: d, was: *d.Status.DeepCopy()}
	slices.SortFunc(sets, byAge)
	for _, rs := range sets {
		// Of several with the same template the oldest is the new one.
		if p.new == nil && sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			p.new = rs
		} else {
			p.old = append(p.old, rs)
		}
	}
	return p
}

// every returns all sets, the new one last.
func (p *pass) every() []*appsv1.ReplicaSet {
	all := slices.Clone(p.old)
	if p.new != nil {
		all = append(all, p.new)
	}
	return all
}

// resize sets the replicas of a set, records the Deployment's desired size in it, and records an event. The set in
// the pass is replaced.
func (p *pass) resize(rs *appsv1.ReplicaSet, n int32) (bool, error) {
	scaling := size(rs) != n
	desired, most := replicasOf(p.d), replicasOf(p.d)+maxSurge(p.d)
	if !scaling && !desiredDiffers(rs, desired, most) {
		return false, nil
	}
	changed := rs.DeepCopy()
	changed.Spec.Replicas = &n
	recordDesired(changed, desired, most)
	written, err := p.c.sets.API.Namespace(rs.Namespace).Update(p.ctx, changed)
	if err != nil {
		return false, err
	}
	p.replace(rs, written)
	if scaling {
		direction := "up"
		if size(rs) > n {
			direction = "down"
		}
		p.event(corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, rs.Name, size(rs), n)
	}
	return scaling, nil
}

func (p *pass) replace(rs, by *appsv1.ReplicaSet) {
	if p.new == rs {
		p.new = by
		return
	}
	if i := slices.Index(p.old, rs); i >= 0 {
		p.old[i] = by
	}
}

func (p *pass) event(eventType, reason, format string, args ...any) {
	p.c.rec.Event(p.d, eventType, reason, format, args...)
}
