package h2

// receiveWindow is the flow-control window for DATA from the peer, of a stream or of the connection. Credit for read
// bytes is returned in pieces of a quarter of the window, so that short bodies need no WINDOW_UPDATE.
type receiveWindow struct {
	// available is the number of bytes that the peer may still send, size that of the whole window.
	available, size int64
	// read is the number of bytes that were read and not yet returned as credit.
	read int64
}

// take accounts for n received bytes. It returns false if they exceed the window.
func (w *receiveWindow) take(n int64) bool {
	if n > w.available {
		return false
	}
	w.available -= n
	return true
}

// done accounts for n bytes that have been read. It returns the increment to send in a WINDOW_UPDATE, or 0 if that can wait.
func (w *receiveWindow) done(n int64) uint32 {
	if w.read += n; w.read < w.size/4 {
		return 0
	}
	back := w.read
	w.available, w.read = w.available+back, 0
	return uint32(back)
}

// increaseWindow adds n bytes to a send window. It returns false if the window would exceed its maximum.
func increaseWindow(window *int64, granted, n int64) bool {
	if *window+granted+n > maxWindow {
		return false
	}
	*window += n
	return true
}
