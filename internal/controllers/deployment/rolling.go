package deployment

import appsv1 "k8s.io/api/apps/v1"

// roll does one step of a rolling update: it scales up the new set, or else scales down old ones, or else, when all
// is done, cleans up the history.
func (p *pass) roll() error {
	if err := p.ensureNew(); err != nil {
		return err
	}
	if n := newSetSize(p.d, p.every(), p.new); n != size(p.new) {
		_, err := p.resize(p.new, n)
		return err
	}
	olds := active(p.old)
	shrunk := false
	for i, n := range shrinkOld(p.d, olds, p.new) {
		if n == size(olds[i]) {
			continue
		}
		if _, err := p.resize(olds[i], n); err != nil {
			return err
		}
		shrunk = true
	}
	if shrunk || !complete(p.d, &p.was) {
		return nil
	}
	return p.cleanup()
}

// newSetSize returns the size that the new set should have now: the desired replicas, but during a rolling update
// no more than maxSurge leaves beside the others.
func newSetSize(d *appsv1.Deployment, all []*appsv1.ReplicaSet, newSet *appsv1.ReplicaSet) int32 {
	desired, has := replicasOf(d), size(newSet)
	if has >= desired || !isRolling(d) {
		return desired
	}
	room := desired + maxSurge(d) - total(all, size)
	if room <= 0 {
		return has
	}
	return has + min(room, desired-has)
}

// shrinkOld returns the size that each of the old sets should have now. Old sets are given oldest first and with
// replicas.
//
// Take 10 desired replicas with maxUnavailable 2 and maxSurge 3, and an update whose new pods never become
// available. Old 8, new 5, 13 in all. At least 8 must be available and 5 of the new ones are not: 13 - 8 - 5 = 0
// may be removed, so the rollout stops instead of removing more old ones. On an undo the roles swap: the new set
// has 8, of which 1 is not available, so 13 - 8 - 1 = 4 of the 5 broken ones are removed at once, which makes room
// for growing to 10.
func shrinkOld(d *appsv1.Deployment, old []*appsv1.ReplicaSet, newSet *appsv1.ReplicaSet) []int32 {
	sizes := make([]int32, len(old))
	for i, rs := range old {
		sizes[i] = size(rs)
	}
	least := replicasOf(d) - maxUnavailable(d)
	waiting := size(newSet) - available(newSet)
	may := total(old, size) + size(newSet) - least - waiting
	if may <= 0 {
		return sizes
	}
	// First the unavailable replicas: removing them costs no availability.
	for i, rs := range old {
		n := min(may, max(0, sizes[i]-available(rs)))
		sizes[i] -= n
		may -= n
	}
	// Then the available ones beyond the minimum.
	spare := total(old, available) + available(newSet) - least
	for i := range sizes {
		if spare <= 0 {
			break
		}
		n := min(sizes[i], spare)
		sizes[i] -= n
		spare -= n
	}
	return sizes
}
