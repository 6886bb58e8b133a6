package h2

// credit is the number of bytes that the peer may still send, on a stream or on the connection. Read bytes are
// returned in pieces of a quarter of the window, so that short bodies need no WINDOW_UPDATE.
type credit struct {
	left, full int64
	// bytes read and not yet returned
	read int64
}

// take accounts for n received bytes. It returns false if they exceed the credit.
func (w *credit) take(n int64) bool {
	if n > w.left {
		return false
	}
	w.left -= n
	return true
}

// done accounts for n bytes that have been read. It returns the increment to send in a WINDOW_UPDATE, or 0 if that can wait.
func (w *credit) done(n int64) uint32 {
	if w.read += n; w.read < w.full/4 {
		return 0
	}
	back := w.read
	w.left, w.read = w.left+back, 0
	return uint32(back)
}

// consumed returns credit for n bytes of a body to the client, and wakes the writer if a WINDOW_UPDATE is due. A
// nil st stands for a stream that has ended: only the connection's credit is returned.
func (c *conn) consumed(st *stream, n int) {
	if n == 0 {
		return
	}
	if back := c.mu.credit.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(0, back)
		c.wake()
	}
	if st == nil || st.closed || st.remoteEnded || st.x == nil {
		return
	}
	if back := st.x.credit.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(st.id, back)
		c.wake()
	}
}

// widen adds n bytes to a send window. It returns false if the window would exceed its maximum.
func widen(window *int64, granted, n int64) bool {
	if *window+granted+n > maxWindow {
		return false
	}
	*window += n
	return true
}

// allow resumes the streams that the connection's window held up.
func (c *conn) allow() {
	for st := c.mu.stalled.first; st != nil; {
		next := st.next
		if st.window > 0 {
			st.unlink()
			c.mu.ready.push(st)
		}
		st = next
	}
}

// allowStream resumes one stream, whose window has grown.
func (c *conn) allowStream(st *stream) {
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
