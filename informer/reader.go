package informer

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/client"
)

// Handler is told what changes. Functions left nil are not called; a handler without any
// is Synced like others, and costs nothing after that. It must not change the objects.
type Handler[T client.Object] struct {
	// Name is what metrics call it.
	Name string
	// Add tells an object not told before; initial if it was there when the handler
	// joined.
	Add func(obj T, initial bool)
	// Update tells that an object changed from what was told last.
	Update func(old, new T)
	// Delete tells that an object is gone, with its last known state.
	Delete func(last T)
}

// deaf says whether the handler is there only to be Synced: it is not woken any more then.
func (h *Handler[T]) deaf() bool { return h.Add == nil && h.Update == nil && h.Delete == nil }

// Registration is a handler's place at an informer.
type Registration struct {
	synced chan struct{}
	remove func()
	lag    func() int
}

// Synced returns a channel that is closed when the handler has been told the state that
// was there when it joined, or that of the first list.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// Remove ends the registration. It does not wait: one call of the handler may still be
// under way.
func (r *Registration) Remove() { r.remove() }

// Lag returns how many changes the handler has not been told yet.
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
	joined  bool                // initial has been set
	initial []T                 // to be told first; shared, not to be changed
	behind  map[key]notified[T] // not nil: off the log, with what it has missed
	first   bool                // the store's synced waits for it
}

// notified is what a reader knows of an object: nothing, or a state.
type notified[T client.Object] struct {
	obj   T
	known bool
}

// batch is how many changes a reader takes at a time.
const batch = 64

// miss notes that a reader off the log is not told d.
func (rd *reader[T]) miss(d delta[T]) {
	k := d.key()
	t, noted := rd.behind[k]
	switch {
	case !noted && d.kind == added:
		rd.behind[k] = notified[T]{}
	case !noted:
		rd.behind[k] = notified[T]{d.old, true}
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
		if s.joining(rd) {
			if !rd.tellInitial(ctx) {
				return
			}
			s.joined(rd)
			if rd.h.deaf() {
				s.removeReader(rd)
				return
			}
			continue
		}
		var some []delta[T]
		if some, buf = s.read(rd, buf[:0]); len(some) > 0 {
			if !rd.tell(ctx, some) {
				return
			}
			clear(buf[:cap(buf)]) // keep no objects alive
			continue
		}
		select {
		case <-rd.bell:
		case <-tick:
			rd.tellAgain(ctx, s)
		case <-rd.gone:
		case <-ctx.Done():
		}
	}
}

// over tells whether the reader should stop between two calls.
func (rd *reader[T]) over(ctx context.Context) bool {
	select {
	case <-rd.gone:
		return true
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

func (rd *reader[T]) tellInitial(ctx context.Context) bool {
	for _, obj := range rd.initial {
		if rd.over(ctx) {
			return false
		}
		if rd.h.Add != nil {
			rd.h.Add(obj, true)
			rd.g.check(obj, "by the handler's Add or during it")
		}
	}
	return true
}

func (rd *reader[T]) tell(ctx context.Context, ds []delta[T]) bool {
	for i := range ds {
		if rd.over(ctx) {
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
