package h2

import (
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

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

func (c *conn) endStreams(err error) {
	for _, st := range c.mu.streams {
		c.close(st, err)
	}
}

// goAway locks the connection and sends GOAWAY.
func (c *conn) goAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendGoAway()
}

// sendGoAway sends GOAWAY: started streams finish, new ones are ignored. conn.mu is held.
func (c *conn) sendGoAway() {
	if c.mu.goingAway || c.mu.err != nil {
		return
	}
	c.mu.goingAway, c.mu.lastAccepted = true, c.mu.lastStream
	c.framer.WriteGoAway(c.mu.lastAccepted, http2.ErrCodeNo, nil)
	c.wake()
}

// resetAny resets a stream, which may have ended already.
func (c *conn) resetAny(id uint32, code http2.ErrCode) error {
	c.framer.WriteRSTStream(id, code)
	if st := c.mu.streams[id]; st != nil {
		c.close(st, http2.StreamError{StreamID: id, Code: code})
	}
	return c.checkControlFrames()
}

// countControlFrame counts an outgoing frame that the peer has caused.
func (c *conn) countControlFrame() { c.mu.controlFrames++ }

// checkControlFrames counts such a frame and wakes the writer. The limit protects memory from a peer that causes many
// frames and does not read.
func (c *conn) checkControlFrames() error {
	if c.countControlFrame(); c.mu.controlFrames > maxControlFrames {
		return http2.ConnectionError(http2.ErrCodeEnhanceYourCalm)
	}
	c.wake()
	return nil
}

// becomeIdle records that no stream is left.
func (c *conn) becomeIdle() {
	now := time.Now()
	c.mu.timer.idle = now
	if d := c.server.hs.IdleTimeout; d > 0 {
		c.scheduleCheck(now.Add(d))
	}
	if c.mu.goingAway && !c.mu.writing && c.mu.out == nil && c.mu.err == nil {
		c.closeGracefully()
	}
}

// closeGracefully ends a connection that has no work left: it closes the write side and gives the peer a moment to close
// its own.
func (c *conn) closeGracefully() {
	if c.mu.timer.closing {
		return
	}
	c.mu.timer.closing = true
	go func() {
		if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
		c.nc.SetReadDeadline(time.Now().Add(lingerTimeout))
	}()
}

// abort closes a connection whose write is blocked. Closing a tls.Conn would wait for the write.
func abort(nc net.Conn) {
	if under, ok := nc.(interface{ NetConn() net.Conn }); ok {
		nc = under.NetConn()
	}
	nc.Close()
}
