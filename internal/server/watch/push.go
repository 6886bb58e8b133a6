package watch

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/represent"
)

// push writes a stream's frames from a goroutine: while the watch begins, and for good over
// HTTP/1.1, over a WebSocket and in memory.
type push struct {
	ctx context.Context
	w   http.ResponseWriter
	rc  *http.ResponseController
	// unhook stops the end of the request from ringing.
	unhook func() bool
	// since is the time, in nanoseconds, at which the write in progress began; 0 for none. The
	// watchdog reads it. A new deadline for each write would cost more than the write.
	since atomic.Int64
}

// write sends frames, and with flush flushes them to the client.
func (p *push) write(frames []byte, flush bool) error {
	p.since.Store(time.Now().UnixNano())
	defer p.since.Store(0)
	if len(frames) > 0 {
		if _, err := p.w.Write(frames); err != nil {
			return err
		}
	}
	if !flush {
		return nil
	}
	return p.rc.Flush()
}

// begin sends the head of the response, so that the client knows that the watch is open.
func (st *Stream) begin() error {
	h := st.push.w.Header()
	h.Set("Content-Type", st.f.Media.StreamType())
	st.push.w.WriteHeader(http.StatusOK)
	return st.push.rc.Flush()
}

// fail sends the ERROR event of a watch that could not begin.
func (st *Stream) fail(err error) { st.push.write(st.appendFailure(nil, err), true) }

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
				st.src.flushed(time.Time{})
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

// HandOver hands the stream over to the connection if that can take it. Then the handler
// returns, and done is called at the stream's end.
func (st *Stream) HandOver(done func()) bool {
	if !st.live || st.f.Endpoint.AsksWebhook { // the connection must not wait, and these may
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
func (h handed) Flushed(at time.Time) { h.st.src.flushed(at) }

// Close implements h2.Source.
func (h handed) Close(err error) {
	if err == h2.ErrStuck {
		h.st.sent.Dropped.Inc()
	}
	h.st.close()
	h.st.done()
}

// start sets the stream's clock.
func (st *Stream) start(timeout time.Duration, bookmarks bool) {
	now := time.Now()
	st.live, st.end = true, now.Add(timeout)
	wake := timeout
	if bookmarks {
		st.every = st.s.BookmarkEvery
		st.mark = now.Add(st.every)
		wake = min(wake, st.every)
	}
	st.clock = time.AfterFunc(wake, st.from.Ring)
	st.push.unhook = context.AfterFunc(st.push.ctx, st.from.Ring)
}
