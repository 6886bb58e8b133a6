package server

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// recorder is the handler's ResponseWriter. It remembers what was answered, and keeps
// the handler from answering once its deadline has.
type recorder struct {
	http.ResponseWriter
	code    int
	written int64

	// own is the handler's header until the answer begins, over HTTP/1.1; nil otherwise.
	own http.Header
	// state is unanswered, begun or late. The first to change it answers.
	state atomic.Int32
	// timer is the deadline's, nil without one. ending is held while it ends the request;
	// stopped, guarded by ending: there is nothing to end any more.
	timer   *time.Timer
	ending  sync.Mutex
	stopped bool
}

// begin takes the answer for the handler, and reports whether it is still to be had.
func (r *recorder) begin() bool {
	if !r.state.CompareAndSwap(unanswered, begun) && r.state.Load() == late {
		return false
	}
	if r.own != nil {
		under := r.ResponseWriter.Header()
		clear(under)
		for name, values := range r.own {
			under[name] = values
		}
		r.own = nil
	}
	return true
}

// Header is the handler's.
func (r *recorder) Header() http.Header {
	if r.own != nil {
		return r.own
	}
	return r.ResponseWriter.Header()
}

func (r *recorder) WriteHeader(code int) {
	if !r.begin() {
		return
	}
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	if !r.begin() {
		return 0, http.ErrHandlerTimeout
	}
	if r.code == 0 {
		r.code = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// FlushError pushes what has been written to the client.
func (r *recorder) FlushError() error {
	if !r.begin() {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Flush is for handlers that look for it in place of http.ResponseController.
func (r *recorder) Flush() { _ = r.FlushError() }

// Hijack likewise. What is taken from the server has no deadline any more.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !r.begin() || r.stop() {
		return nil, nil, http.ErrHandlerTimeout
	}
	return http.NewResponseController(r.ResponseWriter).Hijack()
}
