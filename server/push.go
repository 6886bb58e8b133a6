package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/h2"
)

// push is how a stream reaches its client from a goroutine of its own: while a
// watch begins, and for good over HTTP/1.1, a WebSocket and in memory.
type push struct {
	ctx context.Context
	w   http.ResponseWriter
	rc  *http.ResponseController
	// unhook stops the request's end from ringing.
	unhook func() bool
	// since tells the watchdog since when a write has been in progress: a time
	// in nanoseconds, 0 for none. A deadline set anew for each write would cost
	// more than the write.
	since atomic.Int64
}

// write sends frames; flush also pushes them to the client.
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

// begin sends the head of the answer, so that the client knows it is watching.
func (st *stream) begin() error {
	h := st.push.w.Header()
	h.Set("Content-Type", st.f.Media.StreamType())
	st.push.w.WriteHeader(http.StatusOK)
	return st.push.rc.Flush()
}

// fail tells the client why there will be nothing.
func (st *stream) fail(err error) { st.push.write(st.appendFailure(nil, err), true) }

// run streams events until the time is up, the client goes away or the history
// that it needs is gone.
//
// Streams do nothing but wait here, each on a stack of its own. So everything
// that may happen rings the watcher's one bell, which takes less stack to wait
// for than a choice; and run is called when what has begun the watch is off the
// stack. Both together let the collector halve it.
func (st *stream) run() {
	defer st.close()
	for st.live && st.turn() {
		<-st.from.Bell()
	}
}

// turn sends all that is pending, and says whether there may be more.
func (st *stream) turn() bool {
	if st.push.ctx.Err() != nil {
		return false
	}
	box := chunkBuffers.Get().(*[]byte)
	b := (*box)[:0]
	defer func() { giveChunk(box, b) }()
	for held := false; ; held = true {
		var more bool
		var end error
		b, more, end = st.next(b[:0], chunkSize)
		if len(b) > 0 || end != nil || held { // what was full before it was all has not been flushed
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

// handOver leaves the rest to the connection, if it can take it: then the
// handler is to return, and the stream is no goroutine's any more. done is called
// when it ends.
func (st *stream) handOver(done func()) bool {
	if !st.live || st.f.ep.AsksWebhook { // the connection waits for nobody
		return false
	}
	ring, ok := h2.HandOver(st.push.w, handed{st})
	if !ok {
		return false
	}
	st.done = done
	st.push.unhook()
	s := &st.s.streams
	s.mu.Lock()
	st.push = nil
	s.mu.Unlock()
	st.from.OnRing(ring)
	return true
}

// handed is a stream as the connection sees it.
type handed struct{ st *stream }

// Next is h2.Source's.
func (h handed) Next(dst []byte, limit int) ([]byte, bool, error) { return h.st.next(dst, limit) }

// Flushed is h2.Flushed's.
func (h handed) Flushed(at time.Time) { h.st.src.flushed(at) }

// Close is h2.Source's.
func (h handed) Close(err error) {
	if err == h2.ErrStuck {
		h.st.sent.Dropped.Inc()
	}
	h.st.close()
	h.st.done()
}
