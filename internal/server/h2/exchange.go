package h2

import (
	"net/http"
	"sync"
	"time"
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
