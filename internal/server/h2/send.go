package h2

import (
	"net/http"

	"golang.org/x/net/http2/hpack"
)

// send sends a piece of the response, after the head if that has not been sent yet. It returns when the piece has
// been taken for writing or the stream has ended. end marks the last piece.
func (x *exchange) send(p []byte, end bool) error {
	x.st.c.mu.Lock()
	defer x.st.c.mu.Unlock()
	return x.sendWithHead(x.w.status, x.w.fields, p, end)
}

// sendWithHead is send with the head to be sent first. conn.mu is held.
func (x *exchange) sendWithHead(status int, fields []hpack.HeaderField, p []byte, end bool) error {
	st, c := x.st, x.st.c
	if st.closed {
		return st.err
	}
	// While out is full, a response without a body waits, too, by an empty piece.
	full := c.mu.out != nil && len(c.mu.out.b) >= outLimit
	alone := end && len(p) == 0 && !full
	if !x.w.sent {
		x.w.sent = true
		c.writeHead(st, status, fields, alone)
		if alone {
			c.endLocal(st)
			c.flush()
			return nil
		}
	}
	if len(p) > 0 || end || full {
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
