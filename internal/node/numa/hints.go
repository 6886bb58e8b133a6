package numa

import (
	"math/bits"
	"slices"
)

// set is a set of NUMA nodes: bit i is node i.
type set uint8

func (s set) count() int        { return bits.OnesCount8(uint8(s)) }
func (s set) has(i int) bool    { return s&(1<<i) != 0 }
func all(n int) set             { return set(1<<n - 1) }
func (s set) within(o set) bool { return s&^o == 0 }

// narrower reports whether a set is preferable as it has fewer nodes, or lower ones.
func (s set) narrower(o set) bool {
	if s.count() != o.count() {
		return s.count() < o.count()
	}
	return s < o
}

// sets returns all sets of n nodes, the smallest first.
func sets(n int) []set {
	var list []set
	for s := set(1); ; s++ {
		list = append(list, s)
		if s == all(n) {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b set) int { return a.count() - b.count() })
	return list
}

// hint is a set of nodes from which a resource can be allocated. anywhere means that the provider has no preference.
type hint struct {
	nodes     set
	anywhere  bool
	preferred bool
}

// hints returns the sets of nodes in which a request fits: those for which fits is true, of which the ones with as few nodes as
// an empty machine would need are preferred.
func hints(n int, empty, fits func(set) bool) []hint {
	least := n
	list := []hint{}
	for _, s := range sets(n) {
		if empty(s) {
			least = min(least, s.count())
		}
		if fits(s) {
			list = append(list, hint{nodes: s})
		}
	}
	for i := range list {
		list[i].preferred = list[i].nodes.count() == least
	}
	return list
}

// noPreference and impossible are the hints of a resource without preference, and of one that fits nowhere.
var (
	noPreference = []hint{{anywhere: true, preferred: true}}
	impossible   = []hint{{anywhere: true}}
)

// merge returns the best set of nodes for all resources, one hint of each taken together.
func merge(n int, resources [][]hint) hint {
	most := 0 // of the least numbers of nodes that each resource takes
	for _, list := range resources {
		least := n + 1
		for _, h := range list {
			if !h.anywhere {
				least = min(least, h.nodes.count())
			}
		}
		if least <= n {
			most = max(most, least)
		}
	}
	best := hint{}
	var choose func(i int, h hint)
	choose = func(i int, h hint) {
		if i == len(resources) {
			if h.nodes != 0 && (best.nodes == 0 || better(h, best, most)) {
				best = h
			}
			return
		}
		for _, next := range resources[i] {
			nodes := h.nodes
			if !next.anywhere {
				nodes &= next.nodes
			}
			choose(i+1, hint{nodes: nodes, preferred: h.preferred && next.preferred})
		}
	}
	choose(0, hint{nodes: all(n), preferred: true})
	if best.nodes == 0 {
		best.nodes = all(n)
	}
	return best
}

// better reports whether a hint takes the place of the best one so far. Of those that are not preferred, the one with a number
// of nodes next to, and not above, the number that the most demanding resource takes is the best.
func better(h, best hint, most int) bool {
	if h.preferred != best.preferred {
		return h.preferred
	}
	narrower := h.nodes != best.nodes && h.nodes.narrower(best.nodes)
	switch has, had := h.nodes.count(), best.nodes.count(); {
	case h.preferred, had > most, has == had:
		return narrower
	case had == most, has > most:
		return false
	default:
		return has > had
	}
}

// singles keeps the preferred hints of one node, and those without preference.
func singles(resources [][]hint) [][]hint {
	kept := make([][]hint, len(resources))
	for i, list := range resources {
		kept[i] = []hint{}
		for _, h := range list {
			if h.preferred && (h.anywhere || h.nodes.count() == 1) {
				kept[i] = append(kept[i], h)
			}
		}
	}
	return kept
}
