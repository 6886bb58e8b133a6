package h2

import (
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

// Source is the rest of an answer whose handler has left: a stream of bytes
// that is asked for more when its bell has been rung.
type Source interface {
	// Next appends to dst what there is to send now, about limit bytes or one
	// piece more, and says whether there is more at once. With an error,
	// such as io.EOF, what it has appended is the last of the answer; with
	// http.ErrAbortHandler the answer is cut off instead.
	Next(dst []byte, limit int) (_ []byte, more bool, err error)
	// Close is called when Next will not be any more: with nil if it has said so
	// itself, with ErrStuck if the peer did not read, else with why the stream
	// has ended.
	Close(err error)
}

// Flushed is implemented by a Source that wants to know when all that Next has given
// so far has been written. It is called with the connection's lock held: it must not
// block, nor call the connection.
type Flushed interface{ Flushed(at time.Time) }

// HandOver gives the rest of the answer that w writes to the connection, which
// goes on with src when the handler has returned; the handler must not use w any
// more. ring is src's bell. It is false if w is not of a connection of this
// package; then src has not been touched.
func HandOver(w http.ResponseWriter, src Source) (ring func(), ok bool) {
	for {
		switch t := w.(type) {
		case *response:
			if t.status == 0 {
				t.WriteHeader(http.StatusOK)
			}
			t.x.st.src = src
			return t.x.st.ring, true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return nil, false
		}
	}
}

// ring has the source asked.
func (st *stream) ring() {
	c := st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case st.closed || st.x != nil: // it will be asked anyway
	case st.busy:
		st.rung = true
	case st.in == nil:
		c.mu.ready.push(st)
		c.wake()
	}
}

// feed asks the sources that are ready, in turn, and appends what they have. It
// is the role's, and lets go of the lock while it asks.
func (c *conn) feed(buf *buffer) {
	for st := c.mu.ready.first; st != nil && len(buf.b) < roundLimit; st = c.mu.ready.first {
		if st.born == c.mu.epoch {
			return // what goes before is in out, for the next round
		}
		st.unlink()
		if st.closed {
			c.closeSource(st, st.err)
			continue
		}
		c.ask(st, buf)
	}
}

// ask has one source append what it has, as the windows allow.
func (c *conn) ask(st *stream, buf *buffer) {
	st.granted = min(st.window, c.mu.window, grantLimit)
	if st.granted <= 0 {
		st.granted = 0
		c.stall(st)
		return
	}
	st.window -= st.granted
	c.mu.window -= st.granted
	c.mu.granted = st.granted
	st.busy, st.rung = true, false
	frame := c.mu.maxFrame
	c.mu.Unlock()
	begin := len(buf.b)
	more, used := st.produce(buf, roundLimit-begin, int(st.granted), frame)
	c.mu.Lock()
	back := st.granted - int64(used)
	if st.closed {
		// It was reset meanwhile, and must not be spoken of any more.
		back, buf.b = st.granted, buf.b[:begin]
	}
	st.window += back
	c.mu.window += back
	st.granted, c.mu.granted = 0, 0
	if back > 0 {
		c.allow()
	}
	switch done := st.last && st.rest.empty(); {
	case st.closed:
		c.closeSource(st, st.err)
	case done && st.aborted:
		st.busy = false
		c.reset(st, http2.ErrCodeInternal, http.ErrAbortHandler)
		return // its source is ready to be closed
	case done:
		st.said = true
		if !st.heard {
			c.dismiss(st.id, http2.ErrCodeNo)
		}
		c.close(st, nil)
		c.closeSource(st, nil)
	case !st.rest.empty():
		c.stall(st)
	default:
		if f, ok := st.src.(Flushed); ok && used > 0 {
			c.mu.fed = append(c.mu.fed, f)
		}
		st.stuck = time.Time{}
		if more || st.rung {
			c.mu.ready.push(st)
		}
	}
	st.busy = false
}

// stall puts a stream aside until the peer allows more.
func (c *conn) stall(st *stream) {
	if st.window > 0 && c.mu.window > 0 {
		c.mu.ready.push(st)
		return
	}
	if st.stuck.IsZero() {
		st.stuck = time.Now()
	}
	c.mu.stalled.push(st)
	c.due(st.stuck.Add(c.server.timeout))
}

// closeSource is the role's. It lets go of the lock.
func (c *conn) closeSource(st *stream, err error) {
	src := st.src
	st.src, st.rest = nil, nil
	if src == nil {
		return
	}
	c.mu.Unlock()
	src.Close(err)
	c.mu.Lock()
}

// produce appends frames of the stream to buf: what was left over, then what
// the source has, about want bytes of it and at most grant, in frames of at most
// so many.
func (st *stream) produce(buf *buffer, want, grant, frame int) (more bool, used int) {
	at := len(buf.b)
	if !st.rest.empty() {
		b := appendData(buf.b, st.id, 0, false)
		piece := st.rest.take(grant)
		buf.b = splitFrames(append(b, piece...), at, st.id, frame, st.last && !st.aborted && st.rest.empty())
		return true, len(piece)
	}
	b, more, err := st.src.Next(appendData(buf.b, st.id, 0, false), max(1, min(want, grant)))
	st.last, st.aborted = err != nil, err == http.ErrAbortHandler
	data := b[at+frameHead:]
	n := min(len(data), grant)
	switch {
	case n < len(data):
		if st.rest == nil {
			st.rest = new(rest)
		}
		st.rest.put(data[n:])
	case !more:
		st.rest = nil
	}
	end := st.last && !st.aborted
	if buf.b = b[:at]; n > 0 || end {
		buf.b = splitFrames(b[:at+frameHead+n], at, st.id, frame, end && n == len(data))
	}
	return more, n
}

// rest is a piece of an answer that waits for the peer to allow it. Its room is used
// again for the next one, as long as there is more at once.
type rest struct {
	b    []byte
	sent int
}

func (r *rest) empty() bool { return r == nil || r.sent == len(r.b) }

func (r *rest) put(p []byte) { r.b, r.sent = append(r.b[:0], p...), 0 }

// take takes at most n bytes, which are there until put is called.
func (r *rest) take(n int) []byte {
	p := r.b[r.sent:min(len(r.b), r.sent+n)]
	r.sent += len(p)
	return p
}

// splitFrames makes frames of at most so many bytes of what stands in b from at on,
// behind room for the head of the first. To make room for the other heads the pieces
// are moved, the last one first.
func splitFrames(b []byte, at int, id uint32, frame int, end bool) []byte {
	n := len(b) - at - frameHead
	heads := max(0, n-1) / frame // besides the first
	b = append(b, make([]byte, heads*frameHead)...)
	for i := heads; i >= 0; i-- {
		from, to := at+frameHead+i*frame, at+frameHead+min(n, (i+1)*frame)
		copy(b[from+i*frameHead:], b[from:to])
		appendData(b[:from+(i-1)*frameHead], id, to-from, end && i == heads)
	}
	return b
}
