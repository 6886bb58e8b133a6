package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
)

// A reach is the pools with slices of one node, or those with slices for nodes that a selector or a device chooses.
type reach struct {
	pools   map[*pool]int // and the number of such slices
	changed uint64        // when a pool was last added or removed, by State.clock
	view    []*resourcev1.ResourceSlice
	viewed  uint64 // the last change in view
}

func newReach() *reach { return &reach{pools: map[*pool]int{}} }

// reachOf returns the pools of a node, without the shared ones if there are others.
func (s *State) reachOf(node string) *reach {
	if r := s.local[node]; r != nil {
		return r
	}
	return &s.shared
}

// eachPool calls f with the pools that may have devices for a node.
func (s *State) eachPool(node string, f func(*pool)) {
	r := s.reachOf(node)
	for p := range r.pools {
		f(p)
	}
	if r != &s.shared {
		for p := range s.shared.pools {
			if r.pools[p] == 0 {
				f(p)
			}
		}
	}
}

// lastChange returns when the devices for a node last changed, by State.clock; shown when their slices did.
func (s *State) lastChange(node string) (changed, shown uint64) {
	changed = max(s.shared.changed, s.reachOf(node).changed)
	shown = changed
	s.eachPool(node, func(p *pool) { changed, shown = max(changed, p.changed), max(shown, p.shown) })
	return changed, shown
}

// slicesFor returns all slices of the pools that may have devices for a node, given the last change of its slices.
func (s *State) slicesFor(node string, shown uint64) []*resourcev1.ResourceSlice {
	r := s.reachOf(node)
	if r.viewed == shown && shown > 0 {
		return r.view
	}
	r.view, r.viewed = nil, shown
	s.eachPool(node, func(p *pool) {
		for _, slice := range p.slices {
			r.view = append(r.view, slice)
		}
	})
	return r.view
}

// allocatedFor returns what is taken, with the shares of the pools that may have devices for a node: the allocator
// looks at all shares that it gets.
func (s *State) allocatedFor(node string) structured.AllocatedState {
	a := structured.AllocatedState{AllocatedDevices: s.allocated.devices, AggregatedCapacity: s.allocated.capacities}
	if len(s.allocated.shares) == 0 {
		return a
	}
	s.eachPool(node, func(p *pool) {
		switch shares := s.allocated.shares[p.id]; {
		case len(shares) == 0:
		case a.AllocatedSharedDeviceIDs == nil:
			a.AllocatedSharedDeviceIDs = shares
		default:
			a.AllocatedSharedDeviceIDs = sets.Set[structured.SharedDeviceID].Union(a.AllocatedSharedDeviceIDs, shares)
		}
	})
	return a
}
