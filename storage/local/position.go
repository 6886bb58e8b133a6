package local

import (
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// A position is where a cursor stands in the log, and the bell that rings for its events. It holds
// no part of the log: only the sequence numbers of the first and the last event of its span that the
// cursor has not read. Without unread events it stands at the end of the log, wherever that is by
// now, so compaction never overtakes a cursor on a quiet key.
//
// Publishing marks under mu before the events can be seen, so a reader that finds no mark has
// missed no event of the state that it loaded.
type position struct {
	span mvcc.Span
	// bell, made on demand, and ringTo, which replaces it, are written by the reader under
	// published.mu, and read by the reader or under published.mu. early: it rang before there was
	// either.
	bell   chan struct{}
	ringTo func()
	early  atomic.Bool
	// place is the index within its topic; guarded by published.mu.
	place int

	mu struct {
		sync.Mutex
		// unread: [first, last] holds unread events.
		unread      bool
		first, last int64
		progress    storage.Revision
		err         error
	}
}

// ring rings the bell. published.mu is held, or the reader calls it.
func (p *position) ring() {
	switch {
	case p.ringTo != nil:
		p.ringTo()
	case p.bell == nil:
		p.early.Store(true)
	default:
		select {
		case p.bell <- struct{}{}:
		default:
		}
	}
}

// mark records that [first, last] begins and ends with events of p's span.
func (p *position) mark(first, last int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.unread {
		p.mu.unread, p.mu.first = true, first
	}
	p.mu.last = last
}
