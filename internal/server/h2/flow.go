package h2

import "time"

// consumed returns credit for n bytes of a body to the client, and wakes the writer if a WINDOW_UPDATE is due. A
// nil st stands for a stream that has ended: only the connection's credit is returned.
func (c *conn) consumed(st *stream, n int) {
	if n == 0 {
		return
	}
	if back := c.mu.receive.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(0, back)
		c.wake()
	}
	if st == nil || st.closed || st.remoteEnded || st.x == nil {
		return
	}
	if back := st.x.receive.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(st.id, back)
		c.wake()
	}
}

// consumed implements bodyOwner.
func (x *exchange) consumed(n int) {
	c := x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.consumed(x.st, n)
}

// discarded implements bodyOwner.
func (x *exchange) discarded(n int) {
	c := x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.consumed(nil, n)
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

// resumeStalled resumes the streams that the connection's window held up.
func (c *conn) resumeStalled() {
	for st := c.mu.stalled.first; st != nil; {
		next := st.next
		if st.window > 0 {
			st.unlink()
			c.mu.ready.push(st)
		}
		st = next
	}
}

// resumeStream resumes one stream, whose window has grown.
func (c *conn) resumeStream(st *stream) {
	if st.window <= 0 {
		return
	}
	switch {
	case st.in == &c.mu.stalled:
		if c.mu.window > 0 {
			st.unlink()
			c.mu.ready.push(st)
		}
	case st.in == nil && st.x != nil && st.x.sending:
		c.mu.queue.push(st)
	}
}
