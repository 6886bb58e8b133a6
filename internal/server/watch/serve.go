package watch

import (
	"time"

	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/represent"
)

// Run streams events until the watch's time is up, the client goes away or the history that it
// needs is gone.
//
// Idle streams wait here, each on a stack of its own. So everything that may happen rings the
// watcher's one bell, since a receive needs less stack than a select; and Run is called when
// the functions that have begun the watch have returned. Together this lets the garbage
// collector halve the stack.
func (st *Stream) Run() {
	defer st.close()
	for st.live && st.turn() {
		<-st.from.Bell()
	}
}

// turn sends all that is pending, and reports whether the stream goes on.
func (st *Stream) turn() bool {
	if st.push.ctx.Err() != nil {
		return false
	}
	box := represent.Buffers.Get().(*[]byte)
	b := (*box)[:0]
	defer func() { represent.ReleaseBuffer(box, b) }()
	for held := false; ; held = true {
		var more bool
		var end error
		b, more, end = st.next(b[:0], represent.ChunkSize)
		if len(b) > 0 || end != nil || held { // a chunk that was full before the end has not been flushed
			if st.push.write(b, !more) != nil {
				return false
			}
			if !more {
				st.src.Flushed(time.Time{})
			}
		}
		if end != nil {
			return false
		}
		if !more {
			return true
		}
	}
}

// HandOver hands the stream over to the connection or the reader if they can take it. Then the handler
// returns, and done is called at the stream's end.
func (st *Stream) HandOver(done func(bytes int64)) bool {
	if !st.live || st.rep.Endpoint.AsksWebhook { // the connection must not wait, and these may
		return false
	}
	ring, ok := h2.HandOver(st.push.w, handed{st})
	if !ok {
		return false
	}
	st.done = done
	st.push.unhook()
	s := st.s
	s.mu.Lock()
	st.push = nil
	s.mu.Unlock()
	st.from.OnRing(ring)
	return true
}

// handed is a stream that its connection serves.
type handed struct{ st *Stream }

// Next implements h2.Source.
func (h handed) Next(dst []byte, limit int) ([]byte, bool, error) { return h.st.next(dst, limit) }

// Flushed implements h2.Flushed.
func (h handed) Flushed(at time.Time) { h.st.src.Flushed(at) }

// Close implements h2.Source.
func (h handed) Close(err error) {
	if err == h2.ErrStuck {
		h.st.sent.Dropped.Inc()
	}
	h.st.close()
	h.st.done(0) // watches count their bytes by event
}
