package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

// poolID names a pool of devices: the names of pools are unique for each driver.
type poolID struct{ driver, name string }

func (id poolID) String() string { return id.driver + "/" + id.name }

// A pool is the slices of a pool, of all generations, with the taints of rules.
type pool struct {
	id       poolID
	slices   map[string]*resourcev1.ResourceSlice
	shown    uint64 // when its slices last changed, by State.clock
	changed  uint64 // when its slices or what is taken of its devices last changed, by State.clock
	reported string // the last defect that was reported
}

// SetSlice adds or replaces a slice.
func (s *State) SetSlice(slice *resourcev1.ResourceSlice) {
	old := s.slices[slice.Name]
	if old != nil && (poolOf(old) != poolOf(slice) || ptr.Deref(old.Spec.NodeName, "") != ptr.Deref(slice.Spec.NodeName, "")) {
		s.RemoveSlice(slice.Name)
		old = nil
	}
	id := poolOf(slice)
	p := s.pools[id]
	if p == nil {
		p = &pool{id: id, slices: map[string]*resourcev1.ResourceSlice{}}
		s.pools[id] = p
	}
	s.slices[slice.Name] = slice
	s.show(p, slice)
	if old == nil {
		s.count(p, slice, 1)
	}
}

// RemoveSlice removes a slice.
func (s *State) RemoveSlice(name string) {
	old := s.slices[name]
	if old == nil {
		return
	}
	delete(s.slices, name)
	p := s.pools[poolOf(old)]
	delete(p.slices, name)
	s.slicesChanged(p)
	s.count(p, old, -1)
	if len(p.slices) == 0 {
		delete(s.pools, p.id)
	}
}

// show puts a slice into its pool, with the taints of rules.
func (s *State) show(p *pool, slice *resourcev1.ResourceSlice) {
	p.slices[slice.Name] = s.tainted(slice)
	s.slicesChanged(p)
}

func (s *State) slicesChanged(p *pool) {
	s.clock++
	p.shown, p.changed = s.clock, s.clock
}

// count counts a slice of a pool among those of its nodes; n is 1 or -1.
func (s *State) count(p *pool, slice *resourcev1.ResourceSlice, n int) {
	r := &s.shared
	if node := ptr.Deref(slice.Spec.NodeName, ""); node != "" {
		if r = s.local[node]; r == nil {
			r = newReach()
			s.local[node] = r
		}
		defer func() {
			if len(r.pools) == 0 {
				delete(s.local, node)
				s.shared.changed = r.changed // else the last change of the node would be an older one
			}
		}()
	}
	before := len(r.pools)
	if r.pools[p] += n; r.pools[p] == 0 {
		delete(r.pools, p)
	}
	if len(r.pools) != before {
		s.clock++
		r.changed = s.clock
	}
}

func poolOf(slice *resourcev1.ResourceSlice) poolID {
	return poolID{slice.Spec.Driver, slice.Spec.Pool.Name}
}
