package garbagecollector

import "maps"

// vanish removes an object from the graph after an informer has seen its deletion.
func (g *graph) vanish(id identity) (e effects) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.mu.nodes[id.uid]; n != nil {
		g.remove(n, id, &e)
	}
	return e
}

// disprove records that the server has no object of that identity. This is weaker than vanish: the identity may
// have been a wrong claim, and then the node may stand for an existing object.
func (g *graph) disprove(id identity) (e effects) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.mu.nodes[id.uid]
	if n == nil {
		return e
	}
	right, wrong := partition(n.dependents, id)
	switch {
	case n.virtual && len(wrong) > 0:
		// Dependents that claim exactly this identity are checked. The node stays under another of the claimed
		// identities, which is checked next.
		e.tell(id, right)
		if n.id == id {
			if other, ok := alternative(wrong, id); ok {
				n.id = other
				e.later = append(e.later, id.uid)
			}
		}
	case !n.virtual && n.id != id:
		e.tell(id, right)
	default:
		g.remove(n, id, &e)
	}
	return e
}

// tell enqueues dependents whose owner is absent.
func (e *effects) tell(owner identity, dependents []*node) {
	if len(dependents) > 0 {
		e.absent = append(e.absent, owner)
		e.checkNodes(dependents...)
	}
}

func (g *graph) remove(n *node, id identity, e *effects) {
	delete(g.mu.nodes, n.id.uid)
	g.unlink(n, n.owners)
	if len(n.dependents) > 0 {
		e.absent = append(e.absent, id)
	}
	for d := range n.dependents {
		e.checkNodes(d)
	}
	for _, ref := range n.owners {
		if o := g.mu.nodes[ref.UID]; o != nil && o.deletingDependents {
			e.checkNodes(o)
		}
	}
}

// alternative returns another identity that dependents claim: the next one in order, so that all are tried.
func alternative(dependents []*node, disproved identity) (identity, bool) {
	claims := make(map[identity]struct{})
	for _, d := range dependents {
		for _, ref := range d.owners {
			if ref.UID != disproved.uid {
				continue
			}
			c := claimed(ref, d.id.namespace)
			if disproved.namespace == "" && c.apiVersion == disproved.apiVersion && c.kind == disproved.kind {
				c.namespace = "" // the kind is cluster-scoped
			}
			if c != disproved {
				claims[c] = struct{}{}
			}
		}
	}
	var first, next identity
	for c := range maps.Keys(claims) {
		if first == (identity{}) || c.compare(first) < 0 {
			first = c
		}
		if c.compare(disproved) > 0 && (next == (identity{}) || c.compare(next) < 0) {
			next = c
		}
	}
	if next != (identity{}) {
		return next, true
	}
	return first, len(claims) > 0
}
