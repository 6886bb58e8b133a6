package h2

import (
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// stream is a request and its answer. Fields are guarded by conn.mu unless it
// says otherwise. All that only a handler needs is in its exchange, so that a
// stream that has been handed over is small.
type stream struct {
	c  *conn
	id uint32

	// heard: the client has said all; said: we have. closed: the stream is out of
	// conn.streams, because both have or because of err.
	heard, said, closed bool
	err                 error

	// The list it is in.
	in         *list
	prev, next *stream

	// window is what may be sent, granted what of it the source has been lent.
	window, granted int64

	// x is the handler's side; nil once it has left.
	x *exchange

	// src is who goes on once the handler has left. busy: the role is asking it;
	// rung: its bell has rung meanwhile, or while the handler was there.
	src        Source
	busy, rung bool
	// born is the connection's epoch when the handler left: what it had sent was
	// still in out.
	born uint64
	// rest is what src has produced beyond its grant, last that it will produce no
	// more, and aborted that the answer is to be cut off; they belong to the role.
	rest          *rest
	last, aborted bool
	// stuck is since when src has had something that the windows don't allow.
	stuck time.Time
}

// close takes the stream out of the connection; a nil err is a good end. Its
// handler and its source find out by themselves. Closing again does nothing.
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
		c.idle()
		if c.server.hs.ConnState != nil {
			go c.announce()
		}
	}
}

// reset ends a stream with an error that the peer is told.
func (c *conn) reset(st *stream, code http2.ErrCode, err error) {
	if st.closed {
		return
	}
	c.answer()
	c.dismiss(st.id, code)
	c.close(st, err)
	c.wake()
}

// finished notes that all of the answer is on its way. A client that is still
// sending is told that nobody listens any more.
func (c *conn) finished(st *stream) {
	st.said = true
	if !st.heard {
		c.dismiss(st.id, http2.ErrCodeNo)
	}
	c.close(st, nil)
}

// dismiss tells the client that nobody listens to a stream any more.
func (c *conn) dismiss(id uint32, code http2.ErrCode) {
	c.framer.WriteRSTStream(id, code)
	m := &c.mu.dismissed
	m.ids[m.next] = id
	m.next = (m.next + 1) % len(m.ids)
}

// onItsWay says that a frame of a stream that is gone may have been sent before
// the client was told so. It is not to blame for that, and hears nothing of it.
func (c *conn) onItsWay(id uint32) bool { return slices.Contains(c.mu.dismissed.ids[:], id) }

// announce tells the http.Server's hook whether anything is under way.
func (c *conn) announce() {
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
		f(c.nc, http.StateActive) // what is new becomes idle by way of that
	}
	c.hook.last = is
	f(c.nc, is)
}
