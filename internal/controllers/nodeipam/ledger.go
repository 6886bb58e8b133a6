package nodeipam

import (
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ledger has the ranges of all nodes.
type ledger struct {
	mu struct {
		sync.Mutex
		ranges []*blocks
		// held are the ranges of each node: those that it has, or those that it is about to get.
		held map[types.UID][]netip.Prefix
		// waiting are the nodes for which no block was free, by name.
		waiting map[string]bool
	}
}

func newLedger(ranges []Range) *ledger {
	l := &ledger{}
	for _, r := range ranges {
		l.mu.ranges = append(l.mu.ranges, newBlocks(r))
	}
	l.mu.held, l.mu.waiting = map[types.UID][]netip.Prefix{}, map[string]bool{}
	return l
}

// has records the ranges of a node that has some.
func (l *ledger) has(n *corev1.Node) {
	var all []netip.Prefix
	for _, text := range n.Spec.PodCIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p.Masked())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all) == 0 || slices.Equal(l.mu.held[n.UID], all) {
		return
	}
	l.hold(n.UID, all)
}

// hold replaces the ranges of a node. l.mu is held.
func (l *ledger) hold(uid types.UID, all []netip.Prefix) {
	for _, b := range l.mu.ranges {
		for _, p := range l.mu.held[uid] {
			b.use(p, -1)
		}
		for _, p := range all {
			b.use(p, +1)
		}
	}
	if l.mu.held[uid] = all; len(all) == 0 {
		delete(l.mu.held, uid)
	}
}

// gone releases the ranges of a deleted node.
func (l *ledger) gone(n *corev1.Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold(n.UID, nil)
}

// allocate returns a block of each range for a node, the same blocks until the node has some, or false if no block of
// a range is free. It allocates none if exists returns false.
func (l *ledger) allocate(n *corev1.Node, exists func() bool, excluded func(netip.Prefix) bool) ([]netip.Prefix, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all, ok := l.mu.held[n.UID]; ok || !exists() {
		return all, true
	}
	var all []netip.Prefix
	for _, b := range l.mu.ranges {
		p, ok := b.free(excluded)
		if !ok {
			l.mu.waiting[n.Name] = true
			return nil, false
		}
		all = append(all, p)
	}
	l.hold(n.UID, all)
	return all, true
}

// wake returns the waiting nodes, which wait no longer.
func (l *ledger) wake() (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.mu.waiting {
		names = append(names, name)
	}
	clear(l.mu.waiting)
	slices.Sort(names)
	return names
}
