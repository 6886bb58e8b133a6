package h2

import (
	"runtime"
	"time"
)

// fill moves data of waiting handlers into out, a frame of each in turn, while the windows and out have room.
func (c *conn) fill() {
	for c.mu.out == nil || len(c.mu.out.b) < outLimit {
		st := c.mu.queue.pop()
		if st == nil {
			return
		}
		x := st.x
		n := int(min(int64(len(x.pending)), int64(c.mu.maxFrame), st.window, c.mu.window))
		if n <= 0 && len(x.pending) > 0 {
			if st.window <= 0 {
				continue // until its window grows
			}
			// The connection's window is used up. Streams that only need to send END_STREAM could go on, but may
			// wait as well.
			c.mu.queue.unpop(st)
			return
		}
		n = max(n, 0)
		all := n == len(x.pending)
		out, long := c.buffer(), st.sends(n)
		if n > 0 || !long {
			out.b = append(appendData(out.b, st.id, n, all && x.ends && !long), x.pending[:n]...)
		}
		if all && x.ends && long {
			out.appendEnd(st.id)
		}
		st.window -= int64(n)
		c.mu.window -= int64(n)
		if x.pending = x.pending[n:]; !all {
			c.mu.queue.push(st)
			continue
		}
		x.pending, x.sending = nil, false
		x.moved.Signal()
		if x.ends {
			c.endLocal(st)
		}
	}
}

// write fills out and wakes the writer.
func (c *conn) write() {
	c.fill()
	c.wake()
}

// flush writes the frames in out unless another goroutine is writing. Frames that arrive meanwhile are left to a
// new goroutine.
func (c *conn) flush() {
	if c.mu.writing || c.mu.err != nil || c.mu.out == nil {
		return
	}
	c.mu.writing = true
	c.round(false)
	if c.mu.err == nil && c.more() {
		go c.run()
		return
	}
	c.release()
}

// run holds the writer role until all data is written.
func (c *conn) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.mu.err == nil && c.more() {
		c.round(true)
		// Else the goroutines of other requests would wait until Go's scheduler interrupts this one, 10 ms each time.
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.release()
}

// release gives the role up.
func (c *conn) release() {
	c.mu.writing = false
	c.mu.released.Signal()
	if c.mu.err == nil && c.mu.goingAway && len(c.mu.streams) == 0 {
		c.closeGracefully()
	}
}

// round writes the frames in out, followed, if feed is set, by the data of the sources that were ready when it
// began. If sources have more data, it writes whole records and leaves the rest to the next round as its tail.
func (c *conn) round(feed bool) {
	buf := c.begin()
	if feed {
		c.askSources(buf)
	}
	c.fill()
	n := len(buf.b)
	if n > record && c.more() {
		n -= n % record
	}
	if n > 0 {
		c.mu.writeStart = time.Now()
		c.scheduleCheck(c.mu.writeStart.Add(c.server.timeout))
		c.mu.Unlock()
		err := buf.writeTo(c.nc, n)
		c.mu.Lock()
		c.mu.writeStart = time.Time{}
		if err != nil && c.mu.err == nil {
			c.mu.err = errGone
			abort(c.nc) // the reader ends the connection
		}
	}
	if n == len(buf.b) {
		buf.give()
		c.flushed()
		return
	}
	buf.drop(n)
	c.mu.tail = buf
}

// flushed tells the sources that their data has been written.
func (c *conn) flushed() {
	if len(c.mu.unflushed) == 0 {
		return
	}
	if c.mu.err == nil {
		now := time.Now()
		for _, f := range c.mu.unflushed {
			f.Flushed(now)
		}
	}
	clear(c.mu.unflushed)
	c.mu.unflushed = c.mu.unflushed[:0]
}

// begin returns the buffer to write first: the tail of the previous round, and the frames in out.
func (c *conn) begin() *buffer {
	buf, out := c.mu.tail, c.mu.out
	c.mu.tail, c.mu.out, c.mu.controlFrames = nil, nil, 0
	c.mu.epoch++
	switch {
	case buf == nil && out == nil:
		return buffers.Get().(*buffer)
	case buf == nil:
		return out
	case out != nil:
		buf.append(out)
		out.give()
	}
	return buf
}
