package h2

import (
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

// Source is the rest of a response whose handler has returned: a stream of bytes that the connection asks for data
// when its bell rings.
type Source interface {
	// Next appends the data to send now to dst, about limit bytes or one piece beyond, and reports whether it has
	// more right away. With an error such as io.EOF, the appended data is the last of the response; with
	// http.ErrAbortHandler the response is cut off instead.
	Next(dst []byte, limit int) (_ []byte, more bool, err error)
	// Close is called after the last call of Next. err is nil if Next ended the response itself, ErrStuck if the
	// client did not read, and otherwise the reason why the stream has ended.
	Close(err error)
}

// Flushed may be implemented by a Source. It is called when all data returned by Next so far has been written. The
// connection's lock is held: it must not block, nor call the connection.
type Flushed interface{ Flushed(at time.Time) }

// HandOver passes the rest of w's response to the connection, which continues with src after the handler has
// returned. The handler must not use w afterwards. ring is src's bell. ok is false, and src unused, if w is not of
// a connection of this package.
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

// ring marks the source as ready.
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

// askSources asks the ready sources in turn and appends their data. It belongs to the writer role, and releases the lock
// while it asks.
func (c *conn) askSources(buf *buffer) {
	for st := c.mu.ready.first; st != nil && len(buf.b) < roundLimit; st = c.mu.ready.first {
		if st.leftEpoch == c.mu.epoch {
			return // frames sent before are in out, for the next round
		}
		st.unlink()
		if st.closed {
			c.closeSource(st, st.err)
			continue
		}
		c.askSource(st, buf)
	}
}

// askSource lets one source append its data, within the windows.
func (c *conn) askSource(st *stream, buf *buffer) {
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
	more, used := st.appendFrames(buf, roundLimit-begin, int(st.granted), frame)
	c.mu.Lock()
	back := st.granted - int64(used)
	if st.closed {
		// It was reset meanwhile: no further frame may mention it.
		back, buf.b = st.granted, buf.b[:begin]
	}
	st.window += back
	c.mu.window += back
	st.granted, c.mu.granted = 0, 0
	if back > 0 {
		c.resumeStalled()
	}
	switch done := st.last && st.leftover.empty(); {
	case st.closed:
		c.closeSource(st, st.err)
	case done && st.aborted:
		st.busy = false
		c.reset(st, http2.ErrCodeInternal, http.ErrAbortHandler)
		return // its source is ready to be closed
	case done:
		st.localEnded = true
		if !st.remoteEnded {
			c.sendReset(st.id, http2.ErrCodeNo)
		}
		c.close(st, nil)
		c.closeSource(st, nil)
	case !st.leftover.empty():
		c.stall(st)
	default:
		if f, ok := st.src.(Flushed); ok && used > 0 {
			c.mu.unflushed = append(c.mu.unflushed, f)
		}
		st.stalledSince = time.Time{}
		if more || st.rung {
			c.mu.ready.push(st)
		}
	}
	st.busy = false
}

// stall sets a stream aside until the peer grants more credit.
func (c *conn) stall(st *stream) {
	if st.window > 0 && c.mu.window > 0 {
		c.mu.ready.push(st)
		return
	}
	if st.stalledSince.IsZero() {
		st.stalledSince = time.Now()
	}
	c.mu.stalled.push(st)
	c.scheduleCheck(st.stalledSince.Add(c.server.timeout))
}

// closeSource belongs to the writer role. It releases the lock during the call.
func (c *conn) closeSource(st *stream, err error) {
	src := st.src
	st.src, st.leftover = nil, nil
	if src == nil {
		return
	}
	c.mu.Unlock()
	src.Close(err)
	c.mu.Lock()
}

// appendFrames appends DATA frames of the stream to buf: first the data left over, then the source's. It asks the source
// for about want bytes, sends at most grant of them, and makes frames of at most frame bytes.
func (st *stream) appendFrames(buf *buffer, want, grant, frame int) (more bool, used int) {
	at := len(buf.b)
	if !st.leftover.empty() {
		b := appendData(buf.b, st.id, 0, false)
		piece := st.leftover.take(grant)
		buf.b = splitFrames(append(b, piece...), at, st.id, frame, st.last && !st.aborted && st.leftover.empty())
		return true, len(piece)
	}
	b, more, err := st.src.Next(appendData(buf.b, st.id, 0, false), max(1, min(want, grant)))
	st.last, st.aborted = err != nil, err == http.ErrAbortHandler
	data := b[at+frameHead:]
	n := min(len(data), grant)
	switch {
	case n < len(data):
		if st.leftover == nil {
			st.leftover = new(leftover)
		}
		st.leftover.put(data[n:])
	case !more:
		st.leftover = nil
	}
	end := st.last && !st.aborted
	if buf.b = b[:at]; n > 0 || end {
		buf.b = splitFrames(b[:at+frameHead+n], at, st.id, frame, end && n == len(data))
	}
	return more, n
}

// leftover is data that waits for the peer's credit. Its memory is reused while the source has more data.
type leftover struct {
	b    []byte
	sent int
}

func (r *leftover) empty() bool { return r == nil || r.sent == len(r.b) }

func (r *leftover) put(p []byte) { r.b, r.sent = append(r.b[:0], p...), 0 }

// take returns at most n bytes, which are valid until put is called.
func (r *leftover) take(n int) []byte {
	p := r.b[r.sent:min(len(r.b), r.sent+n)]
	r.sent += len(p)
	return p
}

// splitFrames turns the bytes of b from at on into frames of at most frame bytes. They stand behind room for the
// first frame's header; to make room for the other headers the pieces are moved, the last one first.
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
