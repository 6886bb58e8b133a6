package faults

import (
	"context"
	"errors"
	"fmt"
)

// Leases is the resource that an Expire with a selection applies to: controllers elect leaders by Leases, and nodes
// send heartbeats by them.
const Leases = "leases.coordination.k8s.io"

// ofLeases reports whether the fault lets clients' Leases run out.
func (f *Fault) ofLeases() bool { return f.Action == Expire && f.Resource == Leases }

// chooseLeases sets the resource of an Expire that has a selection to Leases.
func (f *Fault) chooseLeases() error {
	if f.Resource == "" && (f.Client != "" || f.Namespace != "" || f.Name != "") {
		f.Resource = Leases
	}
	if f.Resource != "" && f.Resource != Leases {
		return fmt.Errorf("expire applies to %s or, without a selection, to the store's leases", Leases)
	}
	return nil
}

// hold records the holders of the Leases that are to run out.
func (f *Fault) hold(ctx context.Context, b Breaker) (err error) {
	if b == nil {
		return errors.New("the server has not started: its Leases have no holders")
	}
	f.held, err = b.Held(ctx, func(t Target) bool {
		every := *f
		every.Client = "" // a Lease does not record which client renews it
		return every.about(t)
	})
	if err == nil && len(f.held) == 0 {
		err = errors.New("no Lease in this selection has a holder")
	}
	return err
}

// Renewal is a write to a Lease.
type Renewal struct {
	Target
	// UID is the Lease's. From is the holder before the write, To the holder after it, or "".
	UID, From, To string
}

// Renew returns the fault that a renewal fails by. ok is false if no fault applies. If the Lease passes from the
// expiring holder to another one, or is released, passes is true, and the fault ends for that Lease.
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
