package deployment

import (
	"cmp"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// wasScaled reports whether spec.replicas has changed since the sets with replicas were sized, by their record of
// the desired size.
func (p *pass) wasScaled() bool {
	for _, rs := range active(p.every()) {
		if desired, ok := recordedNumber(rs, desiredAnnotation); ok && desired != replicasOf(p.d) {
			return true
		}
	}
	return false
}

// scale adapts the sets to the desired size without advancing the rollout.
func (p *pass) scale() error {
	if only := p.activeOrLatest(); only != nil {
		if size(only) == replicasOf(p.d) {
			return nil
		}
		_, err := p.resize(only, replicasOf(p.d))
		return err
	}
	if p.new != nil && saturated(p.d, p.new) {
		for _, rs := range active(p.old) {
			if _, err := p.resize(rs, 0); err != nil {
				return err
			}
		}
		return nil
	}
	if !isRolling(p.d) {
		return nil
	}
	sets := active(p.every())
	sizes := proportions(p.d, sets)
	for i, rs := range sets {
		if _, err := p.resize(rs, sizes[i]); err != nil {
			return err
		}
	}
	return nil
}

// activeOrLatest returns the set that takes all of a change: the only one with replicas, or else the latest. It returns nil if several have replicas, or if there are no sets.
func (p *pass) activeOrLatest() *appsv1.ReplicaSet {
	switch live := active(p.every()); {
	case len(live) == 1:
		return live[0]
	case len(live) > 1:
		return nil
	case p.new != nil:
		return p.new
	case len(p.old) > 0:
		return p.old[len(p.old)-1]
	}
	return nil
}

// saturated reports whether the new set has its full size, available, and has recorded it.
func saturated(d *appsv1.Deployment, rs *appsv1.ReplicaSet) bool {
	desired, ok := recordedNumber(rs, desiredAnnotation)
	return ok && desired == replicasOf(d) && size(rs) == desired && available(rs) == desired
}

// proportions gives each set its share of a scaled Deployment, even in the middle of a rollout: sets keep their
// proportions, and the largest takes the rounding error. It sorts sets from the largest to the smallest, and the
// result is in that order.
func proportions(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) []int32 {
	allowed := int32(0)
	if replicasOf(d) > 0 {
		allowed = replicasOf(d) + maxSurge(d)
	}
	toAdd := allowed - total(sets, size)
	// Among equals the youngest grow first and the oldest shrink first.
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		if toAdd > 0 {
			return cmp.Or(cmp.Compare(size(b), size(a)), byAge(b, a))
		}
		return cmp.Or(cmp.Compare(size(b), size(a)), byAge(a, b))
	})
	sizes := make([]int32, len(sets))
	added := int32(0)
	for i, rs := range sets {
		share := int32(0)
		switch {
		case toAdd > 0:
			share = min(fraction(d, rs), toAdd-added)
		case toAdd < 0:
			share = max(fraction(d, rs), toAdd-added)
		}
		sizes[i] = size(rs) + share
		added += share
	}
	if len(sizes) > 0 {
		sizes[0] = max(0, sizes[0]+toAdd-added)
	}
	return sizes
}

// fraction returns the gain of a set if it grew in proportion to the whole since the set was last sized.
func fraction(d *appsv1.Deployment, rs *appsv1.ReplicaSet) int32 {
	if replicasOf(d) == 0 {
		return -size(rs)
	}
	before, ok := recordedNumber(rs, maxAnnotation)
	if !ok || before == 0 {
		if before = d.Status.Replicas; before == 0 {
			return 0
		}
	}
	grown := float64(size(rs)) * float64(replicasOf(d)+maxSurge(d)) / float64(before)
	return int32(math.Round(grown)) - size(rs)
}
