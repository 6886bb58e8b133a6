package informer

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/client"
)

// Handler has the functions to call with changes. Nil functions are not called; a handler
// without functions is Synced like others, and costs no time after that. It must not change
// the objects.
type Handler[T client.Object] struct {
	// Name is its name in metrics.
	Name string
	// Add gets a new object; initial if it was present when the handler joined.
	Add func(obj T, initial bool)
	// Update gets an object's state of the last call, and its new state.
	Update func(old, new T)
	// Delete gets the last known state of a deleted object.
	Delete func(last T)
}

// isSyncOnly reports whether the handler has no functions and is only Synced: after that it is
// not woken any more.
func (h *Handler[T]) isSyncOnly() bool { return h.Add == nil && h.Update == nil && h.Delete == nil }

// Registration is a handler's place at an informer.
type Registration struct {
	synced chan struct{}
	remove func()
	lag    func() int
}

// Synced returns a channel that is closed when the handler has processed the objects that
// were present when it joined, or those of the first list.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// Remove ends the registration. It does not wait: one call of the handler may still be
// under way.
func (r *Registration) Remove() { r.remove() }

// Lag returns the number of changes that the handler has not processed yet.
func (r *Registration) Lag() int { return r.lag() }

// reader is a handler's position in the log.
type reader[T client.Object] struct {
	h    Handler[T]
	g    *guard[T]
	reg  *Registration
	bell chan struct{} // one slot: there is something to read
	gone chan struct{} // closed by Remove
	once sync.Once

	// Guarded by the store's lock; pos is moved by the reader's goroutine alone, under
	// the read lock.
	pos     uint64
	joined  bool                    // initial has been set
	initial []T                     // initial objects to process first; shared, not to be changed
	behind  map[key]lastNotified[T] // not nil: off the log, with the changes that it has missed
	first   bool                    // the store's synced waits for it
}

// lastNotified is a reader's state of an object, if it has one.
type lastNotified[T client.Object] struct {
	obj   T
	known bool
}

// batch is how many changes a reader takes at a time.
const batch = 64

// recordMissed records that a reader off the log does not get d.
func (rd *reader[T]) recordMissed(d delta[T]) {
	k := d.key()
	t, noted := rd.behind[k]
	switch {
	case !noted && d.kind == added:
		rd.behind[k] = lastNotified[T]{}
	case !noted:
		rd.behind[k] = lastNotified[T]{d.old, true}
	case d.kind == deleted && !t.known:
		delete(rd.behind, k) // came and went unseen
	}
}

func (rd *reader[T]) ring() {
	select {
	case rd.bell <- struct{}{}:
	default:
	}
}

func (rd *reader[T]) run(ctx context.Context, s *Store[T], resync time.Duration) {
	var tick <-chan time.Time
	if resync > 0 {
		t := time.NewTicker(resync)
		defer t.Stop()
		tick = t.C
	}
	buf := make([]delta[T], 0, batch)
	for ctx.Err() == nil {
		select {
		case <-rd.gone:
			return
		default:
		}
		if s.isJoining(rd) {
			if !rd.notifyInitial(ctx) {
				return
			}
			s.finishJoining(rd)
			if rd.h.isSyncOnly() {
				s.removeReader(rd)
				return
			}
			continue
		}
		var some []delta[T]
		if some, buf = s.nextChanges(rd, buf[:0]); len(some) > 0 {
			if !rd.notify(ctx, some) {
				return
			}
			clear(buf[:cap(buf)]) // keep no objects alive
			continue
		}
		select {
		case <-rd.bell:
		case <-tick:
			rd.resync(ctx, s)
		case <-rd.gone:
		case <-ctx.Done():
		}
	}
}

// isStopped reports whether the reader should stop between two calls.
func (rd *reader[T]) isStopped(ctx context.Context) bool {
	select {
	case <-rd.gone: // a case alone, for which Go takes no lock
		return true
	default:
		return ctx.Err() != nil
	}
}

func (rd *reader[T]) notifyInitial(ctx context.Context) bool {
	for _, obj := range rd.initial {
		if rd.isStopped(ctx) {
			return false
		}
		if rd.h.Add != nil {
			rd.h.Add(obj, true)
			rd.g.check(obj, "by the handler's Add or during it")
		}
	}
	return true
}

func (rd *reader[T]) notify(ctx context.Context, ds []delta[T]) bool {
	for i := range ds {
		if rd.isStopped(ctx) {
			return false
		}
		switch d := &ds[i]; {
		case d.kind == added && rd.h.Add != nil:
			rd.h.Add(d.new, false)
			rd.g.check(d.new, "by the handler's Add or during it")
		case d.kind == updated && rd.h.Update != nil:
			rd.h.Update(d.old, d.new)
			rd.g.check(d.new, "by the handler's Update or during it")
		case d.kind == deleted && rd.h.Delete != nil:
			rd.h.Delete(d.old)
		}
	}
	return true
}
