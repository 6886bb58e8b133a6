package garbagecollector

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// snapshot is a node's state at one moment.
type snapshot struct {
	id                                        identity
	owners                                    []metav1.OwnerReference
	virtual, beingDeleted, deletingDependents bool
	hasDependents                             bool
}

func (g *graph) look(uid types.UID) (snapshot, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.mu.nodes[uid]
	if n == nil {
		return snapshot{}, false
	}
	return n.snapshot(), true
}

func (n *node) snapshot() snapshot {
	return snapshot{n.id, n.owners, n.virtual, n.beingDeleted, n.deletingDependents, len(n.dependents) > 0}
}

// dependents lists a node's dependents.
func (g *graph) dependents(uid types.UID) []snapshot {
	return g.list(uid, func(n *node) []*node {
		var all []*node
		for d := range n.dependents {
			all = append(all, d)
		}
		return all
	})
}

// blocking lists the dependents that a node's foreground deletion waits for.
func (g *graph) blocking(uid types.UID) []snapshot { return g.list(uid, (*node).blocking) }

func (g *graph) list(uid types.UID, f func(*node) []*node) []snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.mu.nodes[uid]
	if n == nil {
		return nil
	}
	var out []snapshot
	for _, d := range f(n) {
		out = append(out, d.snapshot())
	}
	return out
}

// size returns the number of objects in the graph, including virtual ones.
func (g *graph) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.mu.nodes)
}
