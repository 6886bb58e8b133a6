package h2

// credit is what the peer may still send, on a stream or on the connection.
// What has been read is given back in pieces of a quarter of the whole, so that
// short bodies need no frame for it.
type credit struct {
	left, full int64
	// read is what has been read and not given back.
	read int64
}

// take accounts for n bytes that have come; false if they were too many.
func (w *credit) take(n int64) bool {
	if n > w.left {
		return false
	}
	w.left -= n
	return true
}

// done accounts for n bytes that have been read, and says by how much the peer
// is to be told to go on; 0 for not now.
func (w *credit) done(n int64) uint32 {
	if w.read += n; w.read < w.full/4 {
		return 0
	}
	back := w.read
	w.left, w.read = w.left+back, 0
	return uint32(back)
}

// consumed gives the client credit for n bytes of a body, and wakes the writer
// if there is something to tell. A nil x has no stream of its own any more.
func (c *conn) consumed(st *stream, n int) {
	if n == 0 {
		return
	}
	if back := c.mu.credit.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(0, back)
		c.wake()
	}
	if st == nil || st.closed || st.heard || st.x == nil {
		return
	}
	if back := st.x.credit.done(int64(n)); back > 0 {
		c.framer.WriteWindowUpdate(st.id, back)
		c.wake()
	}
}

// widen gives a stream or the connection n bytes more to send; false if that is
// more than there can be.
func widen(window *int64, granted, n int64) bool {
	if *window+granted+n > maxWindow {
		return false
	}
	*window += n
	return true
}

// allow puts streams that were held up by the connection's window back to work.
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

// allowStream does so for one stream, whose window has grown.
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
