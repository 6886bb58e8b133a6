package h2

import (
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// stream is a request and its response. Its fields are guarded by conn.mu unless a comment says otherwise. The
// handler's state is in its exchange, so that a stream that has been handed over is small.
type stream struct {
	c  *conn
	id uint32

	// remoteEnded: the client's side has ended; localEnded: ours has. closed: the stream is out of conn.streams,
	// because both sides have ended or because of err.
	remoteEnded, localEnded, closed bool
	err                             error

	in         *list // the list that it is in, or nil
	prev, next *stream

	// window is the send window; granted is the part lent to the source.
	window, granted int64

	// x is the handler's side, nil once the handler has returned.
	x *exchange

	// src continues the response once the handler has returned. busy: the role is asking it. rung: its bell rang
	// meanwhile, or while the handler was running.
	src        Source
	busy, rung bool
	// leftEpoch is the connection's epoch when the handler returned: its frames were still in out.
	leftEpoch uint64
	// leftover is data that src produced beyond its credit. last: src will produce no more. aborted: the response is
	// to be cut off. They belong to the role.
	leftover      *leftover
	last, aborted bool
	// stalledSince is the time since when src has data that the windows do not allow.
	stalledSince time.Time
}

// close removes the stream from the connection. A nil err means a complete exchange. Its handler and its source
// notice by themselves. Closing again has no effect.
func (c *conn) close(st *stream, err error) {
	if st.closed {
		return
	}
	if err == nil {
		err = errClosed
	}
	st.closed, st.err = true, err
	delete(c.mu.streams, st.id)
	st.unlink()
	if st.x != nil {
		st.x.cut(err)
	} else if st.src != nil && !st.busy {
		c.mu.ready.push(st) // to have its source closed
		c.wake()
	}
	if len(c.mu.streams) == 0 {
		c.becomeIdle()
		if c.server.hs.ConnState != nil {
			go c.reportState()
		}
	}
}

// reset ends a stream with RST_STREAM.
func (c *conn) reset(st *stream, code http2.ErrCode, err error) {
	if st.closed {
		return
	}
	c.countControlFrame()
	c.sendReset(st.id, code)
	c.close(st, err)
	c.wake()
}

// endLocal marks the response as complete. A client that is still sending is told to stop.
func (c *conn) endLocal(st *stream) {
	st.localEnded = true
	if !st.remoteEnded {
		c.sendReset(st.id, http2.ErrCodeNo)
	}
	c.close(st, nil)
}

// sendReset sends RST_STREAM and remembers the stream.
func (c *conn) sendReset(id uint32, code http2.ErrCode) {
	c.framer.WriteRSTStream(id, code)
	m := &c.mu.recentResets
	m.ids[m.next] = id
	m.next = (m.next + 1) % len(m.ids)
}

// recentlyReset reports whether a frame for a closed stream may have been sent before the client received RST_STREAM.
// Such a frame is ignored.
func (c *conn) recentlyReset(id uint32) bool { return slices.Contains(c.mu.recentResets.ids[:], id) }

// reportState reports the connection's state to the http.Server's ConnState hook.
func (c *conn) reportState() {
	f := c.server.hs.ConnState
	if f == nil {
		return
	}
	c.hook.Lock()
	defer c.hook.Unlock()
	c.mu.Lock()
	is := http.StateIdle
	if len(c.mu.streams) > 0 {
		is = http.StateActive
	}
	c.mu.Unlock()
	if is == c.hook.last {
		return
	}
	if c.hook.last == http.StateNew && is == http.StateIdle {
		f(c.nc, http.StateActive) // the hook's contract: a new connection becomes active before it becomes idle
	}
	c.hook.last = is
	f(c.nc, is)
}
