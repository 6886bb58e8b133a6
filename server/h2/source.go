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
	// such as io.EOF, what it has appended is the last of the answer.
	Next(dst []byte, limit int) (_ []byte, more bool, err error)
	// Close is called when Next will not be any more: with nil if it has said so
	// itself, with ErrStuck if the peer did not read, else with why the stream
	// has ended.
	Close(err error)
}

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
	st.granted = min(st.window, c.mu.window, turnLimit)
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
	more, used := st.produce(buf, int(st.granted), frame)
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
	switch done := st.last && len(st.rest) == 0; {
	case st.closed:
		c.closeSource(st, st.err)
	case done:
		st.said = true
		if !st.heard {
			c.dismiss(st.id, http2.ErrCodeNo)
		}
		c.close(st, nil)
		c.closeSource(st, nil)
	case len(st.rest) > 0:
		c.stall(st)
	default:
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
// the source has, at most grant bytes of it in frames of at most so many.
func (st *stream) produce(buf *buffer, grant, frame int) (more bool, used int) {
	if len(st.rest) > 0 {
		n := min(len(st.rest), grant)
		buf.b = appendFrames(buf.b, st.id, st.rest[:n], frame, st.last && n == len(st.rest))
		if st.rest = st.rest[n:]; len(st.rest) == 0 {
			st.rest = nil
		}
		return true, n
	}
	at := len(buf.b)
	b, more, err := st.src.Next(appendData(buf.b, st.id, 0, false), grant)
	st.last = err != nil
	data := b[at+frameHead:]
	if len(data) <= min(grant, frame) {
		if buf.b = b[:at]; len(data) > 0 || st.last {
			appendData(b[:at], st.id, len(data), st.last)
			buf.b = b
		}
		return more, len(data)
	}
	// Too long for one frame, or for now: by way of another buffer.
	aside := buffers.Get().(*buffer)
	defer aside.give()
	aside.b = append(aside.b[:0], data...)
	n := min(len(data), grant)
	buf.b = appendFrames(b[:at], st.id, aside.b[:n], frame, st.last && n == len(data))
	if n < len(aside.b) {
		st.rest = append([]byte(nil), aside.b[n:]...)
	}
	return more, n
}

// appendFrames appends data in frames of at most so many bytes.
func appendFrames(buf []byte, id uint32, data []byte, frame int, end bool) []byte {
	for {
		n := min(len(data), frame)
		buf = append(appendData(buf, id, n, end && n == len(data)), data[:n]...)
		if data = data[n:]; len(data) == 0 {
			return buf
		}
	}
}
