package h2

import (
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

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
		back = st.granted
		buf.cut(begin)
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
		buf.b = append(b, piece...)
		st.frame(buf, at, frame, st.last && !st.aborted && st.leftover.empty())
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
		buf.b = b[:at+frameHead+n]
		st.frame(buf, at, frame, end && n == len(data))
	}
	return more, n
}

// frame turns the source's data, which stands in buf behind room for a frame's header at at, into frames of at most max bytes.
// end: they are the last.
func (st *stream) frame(buf *buffer, at, max int, end bool) {
	n := len(buf.b) - at - frameHead
	long := st.sends(n)
	if n > 0 || !long {
		buf.b = splitFrames(buf.b, at, st.id, max, end && !long)
	} else {
		buf.b = buf.b[:at]
	}
	if end && long {
		buf.appendEnd(st.id)
	}
}
