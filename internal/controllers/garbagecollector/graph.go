package garbagecollector

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// graph holds all objects and their owners. Each method applies one change and returns the work that it requires.
type graph struct {
	mu struct {
		sync.Mutex
		nodes map[types.UID]*node
	}
}

// effects is the work that a change requires.
type effects struct {
	check  []types.UID // whether to delete them
	orphan []types.UID // whose dependents to orphan
	later  []types.UID // to check again after a pause
	absent []identity  // owners known not to exist
	// misplaced are claims on an owner that exists in another namespace.
	misplaced []claim
}

type claim struct{ by, owner identity }

func (e *effects) checkNodes(nodes ...*node) {
	for _, n := range nodes {
		e.check = append(e.check, n.id.uid)
	}
}

func newGraph() *graph {
	g := &graph{}
	g.mu.nodes = make(map[types.UID]*node)
	return g
}

// observe applies an object's state from an informer, given its previous state (the zero life if it is new).
func (g *graph) observe(id identity, owners []metav1.OwnerReference, was, is life) (e effects) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.mu.nodes[id.uid]
	if n == nil {
		n = &node{id: id, owners: owners, deletingDependents: is.beingDeleted && is.foreground}
		g.mu.nodes[id.uid] = n
		g.link(n, owners, &e)
	} else {
		if n.virtual {
			g.materialize(n, id, &e)
		}
		g.reown(n, owners, &e)
	}
	if is.beingDeleted {
		n.beingDeleted = true
	}
	switch {
	case starts(was, is, life.isOrphan):
		e.orphan = append(e.orphan, id.uid)
	case starts(was, is, life.isForeground):
		n.deletingDependents = true
		for d := range n.dependents {
			e.checkNodes(d)
		}
		e.checkNodes(n)
	}
	return e
}

func (l life) isOrphan() bool     { return l.beingDeleted && l.orphan }
func (l life) isForeground() bool { return l.beingDeleted && l.foreground }

func starts(was, is life, f func(life) bool) bool { return f(is) && !f(was) }

// materialize turns a virtual node into the observed object. Dependents that claimed another identity are to be
// checked.
func (g *graph) materialize(n *node, id identity, e *effects) {
	if n.id != id {
		_, wrong := partition(n.dependents, id)
		for _, d := range wrong {
			if id.namespace != "" && d.id.namespace != id.namespace {
				e.misplaced = append(e.misplaced, misplacedClaims(d, id.uid)...)
			}
		}
		e.checkNodes(wrong...)
		n.id = id
	}
	n.virtual = false
}

// reown sets a node's present owners.
func (g *graph) reown(n *node, owners []metav1.OwnerReference, e *effects) {
	before := n.owners
	find := func(list []metav1.OwnerReference, uid types.UID) *metav1.OwnerReference {
		if i := slices.IndexFunc(list, func(r metav1.OwnerReference) bool { return r.UID == uid }); i >= 0 {
			return &list[i]
		}
		return nil
	}
	var added, removed []metav1.OwnerReference
	for _, ref := range owners {
		if find(before, ref.UID) == nil {
			added = append(added, ref)
		}
	}
	for _, ref := range before {
		now := find(owners, ref.UID)
		if now == nil {
			removed = append(removed, ref)
		}
		// An owner that waited for this dependent may have waited for no other.
		if o := g.mu.nodes[ref.UID]; o != nil && blocks(ref) && (now == nil || !blocks(*now)) {
			e.checkNodes(o)
		}
	}
	n.owners = owners
	g.link(n, added, e)
	g.unlink(n, removed)
}

// link adds a node to its owners, creating virtual nodes for unknown ones.
func (g *graph) link(n *node, owners []metav1.OwnerReference, e *effects) {
	doubtful := false
	for _, ref := range owners {
		o := g.mu.nodes[ref.UID]
		if o == nil {
			o = &node{id: claimed(ref, n.id.namespace), virtual: true}
			g.mu.nodes[ref.UID] = o
			e.checkNodes(o) // it may exist, or have been deleted before the graph was built
			o.addDependent(n)
			continue
		}
		o.addDependent(n)
		namespaced := o.id.namespace != ""
		switch {
		case doubtful:
		case namespaced && o.id.namespace != n.id.namespace:
			if !o.virtual {
				e.misplaced = append(e.misplaced, misplacedClaims(n, ref.UID)...)
			}
			doubtful = true
		case !o.id.meets(ref):
			doubtful = true
		case !namespaced && n.id.namespace != "" && o.virtual:
			doubtful = true // claimed by a cluster-scoped object first; the kind may be namespaced
		}
	}
	if doubtful {
		e.checkNodes(n)
	}
}

func (g *graph) unlink(n *node, owners []metav1.OwnerReference) {
	for _, ref := range owners {
		if o := g.mu.nodes[ref.UID]; o != nil {
			delete(o.dependents, n)
		}
	}
}

func misplacedClaims(d *node, owner types.UID) []claim {
	for _, ref := range d.owners {
		if ref.UID == owner {
			return []claim{{by: d.id, owner: claimed(ref, d.id.namespace)}}
		}
	}
	return nil
}
