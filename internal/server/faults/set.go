package faults

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrNotFound is returned if the Set holds no such fault.
var ErrNotFound = errors.New("no such fault")

// Breaker carries out the immediate effects of faults. The server implements it.
type Breaker interface {
	// Changed is called after faults of watches have been added or removed.
	Changed()
	// Drop closes the watches for which meant returns true, and returns their number.
	Drop(id uint64, meant func(Target) bool) int
	// Expire ends all leases of the store, and returns their number.
	Expire(ctx context.Context, id uint64) (int, error)
	// Held returns the holders of the Leases for which meant returns true, by the Leases' UIDs.
	Held(ctx context.Context, meant func(Target) bool) (map[string]string, error)
}

// Set holds the faults in force.
type Set struct {
	mu struct {
		sync.Mutex
		last    uint64
		faults  []*Fault
		breaker Breaker
	}
	// watches, writes and leases count the faults of each sort.
	watches, writes, leases atomic.Int32
}

// New returns a Set without faults.
func New() *Set { return &Set{} }

// Serve sets the server that the Set applies to. It must be called before Add.
func (s *Set) Serve(b Breaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.breaker = b
}

// server returns the server set by Serve, or nil.
func (s *Set) server() Breaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.breaker
}

// Add puts a fault in force and returns it as stored. It fails if the fault is invalid; for Expire also if the
// store fails, or if no Lease that it selects has a holder.
func (s *Set) Add(ctx context.Context, f Fault) (Fault, error) {
	if err := f.complete(); err != nil {
		return Fault{}, err
	}
	b := s.server()
	if f.ofLeases() {
		if err := f.hold(ctx, b); err != nil {
			return Fault{}, err
		}
	}
	kept := &f
	s.mu.Lock()
	s.mu.last++
	f.ID = s.mu.last
	s.mu.faults = append(s.mu.faults, kept)
	s.count()
	s.mu.Unlock()
	if b == nil || f.ofLeases() {
		return s.copy(kept), nil
	}
	n, err := 0, error(nil)
	switch f.Action {
	case Drop:
		n = b.Drop(f.ID, kept.about)
	case Expire:
		n, err = b.Expire(ctx, f.ID)
	default:
		b.Changed()
		return s.copy(kept), nil
	}
	s.mu.Lock()
	kept.Struck = n
	s.mu.Unlock()
	return s.copy(kept), err
}

func (s *Set) copy(f *Fault) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *f
}

// count must be called with mu held.
func (s *Set) count() {
	var watches, writes, leases int32
	for _, f := range s.mu.faults {
		if f.watches() {
			watches++
		}
		if f.writes() {
			writes++
		}
		if f.ofLeases() {
			leases++
		}
	}
	s.watches.Store(watches)
	s.writes.Store(writes)
	s.leases.Store(leases)
}

// Remove removes a fault, or all of them if id is 0. It returns ErrNotFound if there is no such fault.
func (s *Set) Remove(id uint64) error {
	s.mu.Lock()
	before := len(s.mu.faults)
	s.mu.faults = slices.DeleteFunc(s.mu.faults, func(f *Fault) bool { return id == 0 || f.ID == id })
	gone := len(s.mu.faults) < before
	s.count()
	b := s.mu.breaker
	s.mu.Unlock()
	if !gone && id != 0 {
		return ErrNotFound
	}
	if b != nil {
		b.Changed()
	}
	return nil
}

// List returns the faults in the order in which they were added.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Fault, len(s.mu.faults))
	for i, f := range s.mu.faults {
		all[i] = *f
	}
	return all
}

// Watch returns the first fault that affects a watch. ok is false if no fault affects it.
func (s *Set) Watch(t Target) (f Fault, ok bool) {
	if s == nil || s.watches.Load() == 0 {
		return f, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.mu.faults {
		if f.watches() && f.about(t) {
			return *f, true
		}
	}
	return f, false
}

// Strikes counts events that a fault has withheld.
func (s *Set) Strikes(id uint64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.mu.faults {
		if f.ID == id {
			f.Struck += n
		}
	}
}

// Write counts a write and returns the faults that affect it, in the order in which they were added, up to the
// first that fails it.
func (s *Set) Write(t Target) (struck []Fault) {
	if s == nil || s.writes.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.mu.faults {
		if !f.writes() || !f.about(t) {
			continue
		}
		if f.Seen++; f.Seen < f.Nth || f.Times > 0 && f.Struck == f.Times {
			continue
		}
		f.Struck++
		struck = append(struck, *f)
		if f.Action == Fail {
			break
		}
	}
	return struck
}
