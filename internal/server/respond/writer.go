package respond

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Writer is the ResponseWriter of a handler. It records the status code and the size of the
// response, and keeps the handler from answering once the deadline has.
type Writer struct {
	http.ResponseWriter
	Code    int
	written int64
	// Begun, if not nil, is called once with the status code when the handler begins the response.
	Begun func(code int)
	// Copy, if not nil, gets what the handler writes of the response's body.
	Copy io.Writer

	// own is the handler's header until the response begins if net/http serves the connection; nil otherwise.
	own http.Header
	// state is unanswered, begun or late. The first goroutine to change it answers.
	state atomic.Int32
	// timer is the deadline's, nil without one. ending is held while the deadline ends the
	// request. stopped, guarded by ending: the handler has returned.
	timer   *time.Timer
	ending  sync.Mutex
	stopped bool
}

// Written returns how many bytes of the body the handler has written. It belongs to the handler.
func (r *Writer) Written() int64 { return r.written }

// begin claims the response for the handler, and reports whether the deadline has left it to.
func (r *Writer) begin() bool {
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

// Header implements http.ResponseWriter.
func (r *Writer) Header() http.Header {
	if r.own != nil {
		return r.own
	}
	return r.ResponseWriter.Header()
}

func (r *Writer) WriteHeader(code int) {
	if !r.begin() {
		return
	}
	r.setCode(code)
	r.ResponseWriter.WriteHeader(code)
}

// setCode records the first status code.
func (r *Writer) setCode(code int) {
	if r.Code != 0 {
		return
	}
	r.Code = code
	if r.Begun != nil {
		r.Begun(code)
	}
}

func (r *Writer) Write(p []byte) (int, error) {
	if !r.begin() {
		return 0, http.ErrHandlerTimeout
	}
	r.setCode(http.StatusOK)
	n, err := r.ResponseWriter.Write(p)
	r.written += int64(n)
	if r.Copy != nil {
		_, _ = r.Copy.Write(p[:n])
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *Writer) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// FlushError sends the buffered response to the client.
func (r *Writer) FlushError() error {
	if !r.begin() {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(r.ResponseWriter).Flush()
}

// Flush is for handlers that do not use http.ResponseController.
func (r *Writer) Flush() { _ = r.FlushError() }

// Hijack is for handlers that do not use http.ResponseController. A hijacked connection has no
// deadline any more.
func (r *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !r.begin() || r.Stop() {
		return nil, nil, http.ErrHandlerTimeout
	}
	if r.Begun != nil && r.Code == 0 {
		r.Begun(http.StatusSwitchingProtocols)
	}
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// The states of a response; see Writer.state.
const (
	unanswered = iota
	begun      // the handler has begun to answer
	late       // the deadline has answered in the handler's place
)

// Extend gives a response that has begun, such as a list, d more to be written.
func (r *Writer) Extend(d time.Duration) {
	if r.timer != nil && r.timer.Stop() {
		r.timer.Reset(d)
	}
}

// expire ends the request: it answers if the handler has not begun to, and else cuts the
// response off.
func (r *Writer) expire(answer func()) {
	r.ending.Lock()
	defer r.ending.Unlock()
	if r.stopped {
		return
	}
	rc := http.NewResponseController(r.ResponseWriter)
	past := time.Now().Add(-time.Second)
	answers := r.state.CompareAndSwap(unanswered, late)
	if _ = rc.SetReadDeadline(past); !answers { // which also ends the context over HTTP/1.1
		_ = rc.SetWriteDeadline(past)
		return
	}
	_ = rc.SetWriteDeadline(time.Now().Add(parting))
	answer()
}

// Stop ends the deadline and reports whether the deadline has answered.
func (r *Writer) Stop() bool {
	if r.timer == nil {
		return false
	}
	r.timer.Stop()
	r.ending.Lock()
	defer r.ending.Unlock()
	r.stopped = true
	return r.state.Load() == late
}

// parting is the time that a client has to take the response to a late request.
const parting = 5 * time.Second

// SetDeadline sets the deadline of the response: late answers in place of the handler if that has not
// begun to. Where net/http serves the connection, the handler gets a header of its own, since net/http's
// must not be used by two goroutines.
func (r *Writer) SetDeadline(d time.Duration, nethttp bool, late func()) {
	if nethttp {
		r.own = r.ResponseWriter.Header().Clone()
	}
	r.timer = time.AfterFunc(d, func() { r.expire(late) })
}
