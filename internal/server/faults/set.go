package faults

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrNotFound: the Set holds no such fault.
var ErrNotFound = errors.New("no such fault")

// Breaker is who carries out what a fault does at once.
type Breaker interface {
	// Changed is called after faults of watches have been added or removed.
	Changed()
	// Drop cuts off the watches that a fault is meant for, and tells how many.
	Drop(id uint64, meant func(Target) bool) int
	// Expire ends all leases of the store, and tells how many.
	Expire(ctx context.Context, id uint64) (int, error)
	// Held is who holds the Leases that a fault is meant for, by their UIDs.
	Held(ctx context.Context, meant func(Target) bool) (map[string]string, error)
}

// Set is what is broken now.
type Set struct {
	mu struct {
		sync.Mutex
		last    uint64
		faults  []*Fault
		breaker Breaker
	}
	// watches, writes and leases are how many faults there are of each.
	watches, writes, leases atomic.Int32
}

// New is a Set that breaks nothing yet.
func New() *Set { return &Set{} }

// Serve names the server that the Set is of. Call it before Add.
func (s *Set) Serve(b Breaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.breaker = b
}

// server is the one that Serve named, nil for none.
func (s *Set) server() Breaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.breaker
}

// Add puts a fault in force and returns it as it is kept. It fails if the fault makes no
// sense, or, for Expire, as the store does, or if nobody holds a Lease that it selects.
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

// count must be called with mu.
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

// Remove ends a fault, or with 0 all. Errors: ErrNotFound.
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

// List is the faults in the order in which they were added.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Fault, len(s.mu.faults))
	for i, f := range s.mu.faults {
		all[i] = *f
	}
	return all
}

// Watch is the fault that a watch is under, the first of those meant for it. ok is false
// if there is none.
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

// Strikes counts events that a fault has kept back.
func (s *Set) Strikes(id uint64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.mu.faults {
		if f.ID == id {
			f.Struck += n
		}
	}
}

// Write counts a write and returns the faults that strike it, in the order in which they
// were added, up to one that fails it.
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
