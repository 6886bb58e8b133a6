package faults

import (
	"context"
	"errors"
	"fmt"
)

// Leases is the resource whose objects an Expire with a selection is of: those that
// controllers elect their leader by, and that nodes are known to be alive by.
const Leases = "leases.coordination.k8s.io"

// ofLeases says whether a fault lets Leases run out that clients hold.
func (f *Fault) ofLeases() bool { return f.Action == Expire && f.Resource == Leases }

// chooseLeases makes an Expire that selects anything one of Leases.
func (f *Fault) chooseLeases() error {
	if f.Resource == "" && (f.Client != "" || f.Namespace != "" || f.Name != "") {
		f.Resource = Leases
	}
	if f.Resource != "" && f.Resource != Leases {
		return fmt.Errorf("expire is of %s, or, with no selection, of the leases of the store", Leases)
	}
	return nil
}

// hold notes who holds the Leases that are to run out.
func (f *Fault) hold(ctx context.Context, b Breaker) (err error) {
	if b == nil {
		return errors.New("nobody holds a Lease of a server that has not begun")
	}
	f.held, err = b.Held(ctx, func(t Target) bool {
		every := *f
		every.Client = "" // the Lease does not say by whom it is renewed
		return every.about(t)
	})
	if err == nil && len(f.held) == 0 {
		err = errors.New("nobody holds a Lease of this selection")
	}
	return err
}

// Renewal is a write to a Lease.
type Renewal struct {
	Target
	// UID is the Lease's, From who held it before, To after the write, "" for nobody.
	UID, From, To string
}

// Renew is the fault that a renewal is struck by. If it goes from the holder whose time was to
// run out to another one, or to nobody, it passes; that ends the fault for that Lease. ok is
// false if there is no such fault.
func (s *Set) Renew(r Renewal) (f Fault, passes, ok bool) {
	if s == nil || s.leases.Load() == 0 || r.From == "" {
		return f, false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.mu.faults {
		switch holder := f.held[r.UID]; {
		case !f.ofLeases() || holder == "":
		case holder != r.From:
			delete(f.held, r.UID)
		case r.To != r.From:
			return *f, true, true
		case f.about(r.Target):
			f.Struck++
			return *f, false, true
		}
	}
	return f, false, false
}
