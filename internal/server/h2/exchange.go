package h2

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// exchange is a request while its handler runs.
type exchange struct {
	st      *stream
	ctx     requestContext
	req     *http.Request
	handler http.Handler
	body    *body // nil if the request has no body
	w       response

	// The fields below are guarded by conn.mu.

	// receive is the stream's receive window, for the body.
	receive receiveWindow
	// trailer holds the fields received after the body.
	trailer http.Header
	// pending is the data to be sent next, and ends marks it as the last. sending is set until it has been moved to
	// out; moved signals that.
	pending []byte
	ends    bool
	sending bool
	moved   sync.Cond

	readTimer, writeTimer *time.Timer
}

// cut ends the exchange from outside the handler. conn.mu is held.
func (x *exchange) cut(err error) {
	x.pending, x.sending = nil, false
	if x.body != nil {
		x.body.fail(err)
	}
	x.ctx.cancel()
	x.moved.Broadcast()
	stop(x.readTimer)
	stop(x.writeTimer)
}

func stop(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

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

// sendContinue sends 100 Continue to a client that waits for it before sending the body.
func (x *exchange) sendContinue() {
	c := x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.w.sent || x.st.closed {
		return
	}
	c.writeHead(x.st, http.StatusContinue, nil, false)
	c.wake()
}

// takeTrailer copies the received trailers that the request announced to the handler's request.
func (x *exchange) takeTrailer() {
	c := x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range x.trailer {
		if _, ok := x.req.Trailer[k]; ok {
			x.req.Trailer[k] = v
		}
	}
}

// send sends a piece of the response, after the head if that has not been sent yet. It returns when the piece has
// been taken for writing or the stream has ended. end marks the last piece.
func (x *exchange) send(p []byte, end bool) error {
	st, c := x.st, x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.closed {
		return st.err
	}
	if !x.w.sent {
		x.w.sent = true
		c.writeHead(st, x.w.status, x.w.fields, end && len(p) == 0)
		if end && len(p) == 0 {
			c.endLocal(st)
			c.flush()
			return nil
		}
	}
	if len(p) > 0 || end {
		x.pending, x.ends, x.sending = p, end, true
		c.mu.queue.push(st)
		c.fill()
	}
	c.flush()
	for x.sending {
		x.moved.Wait()
	}
	if st.closed && !st.localEnded {
		return st.err
	}
	return nil
}

// sendTrailer ends the response with its trailers.
func (x *exchange) sendTrailer() {
	st, c := x.st, x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.closed {
		return
	}
	c.writeHead(st, 0, x.w.fields, true)
	c.endLocal(st)
	c.flush()
}
