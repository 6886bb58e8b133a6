package daemonset

import corev1 "k8s.io/api/core/v1"

// rollOut replaces pods of old templates within the limits. It requires at most one old and one new pod on every
// node, which tend ensures.
func (p *pass) rollOut() {
	if p.surge > 0 {
		p.rollSurging()
		return
	}
	p.rollInPlace()
}

// pair returns the running pods of a node, by whether they are of the present template. ok is false if there are
// several of one sort.
func (p *pass) pair(s *site) (fresh, old *corev1.Pod, ok bool) {
	for _, pod := range s.pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		slot := &old
		if p.isUpdated(pod) {
			slot = &fresh
		}
		if *slot != nil {
			return nil, nil, false
		}
		*slot = pod
	}
	return fresh, old, true
}

// rollInPlace deletes old pods: all unavailable ones, and as many others as maxUnavailable allows.
func (p *pass) rollInPlace() {
	down := 0
	var candidates []*corev1.Pod
	for i := range p.nodes {
		s := &p.nodes[i]
		if !s.run && len(s.pods) == 0 {
			continue
		}
		fresh, old, ok := p.pair(s)
		switch {
		case !ok || (fresh == nil) == (old == nil):
			down++
		case fresh != nil:
			if !p.isAvailable(fresh) {
				down++
			}
		case !p.isAvailable(old):
			p.remove = append(p.remove, old)
			down++
		default:
			candidates = append(candidates, old)
		}
	}
	n := min(max(p.missing-down, 0), len(candidates))
	p.remove = append(p.remove, candidates[:n]...)
}

// rollSurging creates new pods beside old ones: on every node whose old one is unavailable, and on as many others
// as maxSurge allows. It deletes an old pod when its new one is available.
func (p *pass) rollSurging() {
	surging, available, wanted := 0, 0, 0
	var candidates []string
	var leaving []*corev1.Pod
	for i := range p.nodes {
		s := &p.nodes[i]
		if s.run {
			wanted++
		}
		fresh, old, ok := p.pair(s)
		if !ok {
			surging++
			continue
		}
		up := fresh
		if old != nil {
			up = old
		}
		if up == nil {
			continue // tend creates one
		}
		isUp := p.isAvailable(up)
		if isUp {
			available++
		}
		switch {
		case old == nil:
		case fresh != nil:
			if p.isAvailable(fresh) {
				p.remove = append(p.remove, old)
			} else {
				surging++
			}
		case !s.run && isUp:
			leaving = append(leaving, old)
		case !s.run:
			p.remove = append(p.remove, old)
		case !isUp:
			p.create = append(p.create, s.name)
		default:
			candidates = append(candidates, s.name)
		}
	}
	// A pod leaves a node where it may no longer run when enough others are available.
	p.remove = append(p.remove, leaving[:min(max(available-wanted, 0), len(leaving))]...)
	p.create = append(p.create, candidates[:min(max(p.surge-surging, 0), len(candidates))]...)
}
