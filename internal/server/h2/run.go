package h2

import (
	"net/http"
	"runtime"

	"golang.org/x/net/http2"
)

// start runs the exchange's handler, now or when another handler has returned.
func (c *conn) start(st *stream) error {
	if c.mu.handlers < c.maxStreams {
		c.mu.handlers++
		c.handle(st.x)
		return nil
	}
	// More handlers run than streams are open: the client has reset streams whose handlers have not noticed yet.
	if len(c.mu.waiting) >= 4*c.maxStreams {
		return http2.ConnectionError(http2.ErrCodeEnhanceYourCalm)
	}
	c.mu.waiting = append(c.mu.waiting, st)
	return nil
}

// run calls the handler.
func (x *exchange) run() {
	c := x.st.c
	good := false
	defer func() {
		if !good {
			x.panicked(recover())
		}
		x.w.release()
		if x.body != nil {
			x.body.Close()
		}
		if x.req.MultipartForm != nil {
			x.req.MultipartForm.RemoveAll()
		}
		c.handlerReturned(x)
	}()
	x.handler.ServeHTTP(&x.w, x.req)
	x.w.finish()
	good = true
}

func (x *exchange) panicked(p any) {
	c := x.st.c
	if p != nil && p != http.ErrAbortHandler {
		stack := make([]byte, 64<<10)
		stack = stack[:runtime.Stack(stack, false)]
		c.server.logf("h2: panic serving %s: %v\n%s", c.remote, p, stack)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset(x.st, http2.ErrCodeInternal, errClosed)
}

// handlerReturned is called when a handler has returned. Its source takes over the stream, and a waiting exchange may start.
func (c *conn) handlerReturned(x *exchange) {
	st := x.st
	c.mu.Lock()
	var orphan Source
	if c.mu.err != nil {
		c.close(st, errGone)
		orphan = st.src
	}
	x.cut(errClosed)
	st.unlink()
	st.x = nil
	if orphan != nil {
		st.src = nil
	}
	if st.src != nil {
		st.leftEpoch = c.mu.epoch
		c.mu.ready.push(st)
		c.wake()
	}
	c.mu.handlers--
	for len(c.mu.waiting) > 0 && c.mu.handlers < c.maxStreams {
		next := c.mu.waiting[0]
		c.mu.waiting[0], c.mu.waiting = nil, c.mu.waiting[1:]
		if next.closed {
			if b := next.x.body; b != nil {
				c.mu.Unlock()
				b.Close()
				c.mu.Lock()
			}
			continue
		}
		c.mu.handlers++
		c.handle(next.x)
	}
	c.mu.Unlock()
	if orphan != nil {
		orphan.Close(st.err)
	}
}
