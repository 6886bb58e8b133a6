package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/h2"
)

// updateTimeout bounds the work of reads and writes of single objects, which then fail
// by themselves, as at kube-apiserver.
const updateTimeout = 34 * time.Second

// parting is how long a client may take for the answer to a request that was too late.
const parting = 5 * time.Second

// The states of an answer; see recorder.
const (
	unanswered = iota
	begun      // the handler has begun to answer
	late       // the deadline has answered in the handler's place
)

// arm sets the deadline by which the request must be answered. When it passes, a request
// without an answer is told 504 and its context ends, and an answer that has begun is cut off.
// The deadline does what kube-apiserver's timeout filter does, without a goroutine for each
// request; a handler that does not look at its context keeps its place until it returns.
func (c *call) arm() {
	if c.info.LongRunning() || c.inProcess() || c.s.cfg.RequestTimeout < 0 {
		return
	}
	r := c.w
	if c.req.ProtoMajor == 1 {
		r.own = r.ResponseWriter.Header().Clone() // net/http's is not to be touched by two
	}
	r.timer = time.AfterFunc(c.limit()-time.Since(c.start), func() { r.expire(c.tooLate) })
}

// limit is how long the request may take: the server's limit, or less if the client has said so.
func (c *call) limit() time.Duration {
	if c.timeout > 0 && c.timeout < c.s.cfg.RequestTimeout {
		return c.timeout
	}
	return c.s.cfg.RequestTimeout
}

// extend gives an answer that has begun, a list, as much time again to be written.
func (r *recorder) extend(d time.Duration) {
	if r.timer != nil && r.timer.Stop() {
		r.timer.Reset(d)
	}
}

// expire ends the request: by answering it, if the handler has not begun to.
func (r *recorder) expire(answer func()) {
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

// stop ends the deadline, and reports whether it has answered.
func (r *recorder) stop() bool {
	if r.timer == nil {
		return false
	}
	r.timer.Stop()
	r.ending.Lock()
	defer r.ending.Unlock()
	r.stopped = true
	return r.state.Load() == late
}

// tooLate answers with 504 in place of the handler, which may be running.
func (c *call) tooLate() {
	status := apistatus.Of(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	body, err := json.Marshal(status)
	if err != nil {
		panic(err) // a Status has nothing that cannot be encoded
	}
	header := http.Header{
		"Audit-Id": {c.auditID}, "Cache-Control": noCache, "Content-Type": {codec.JSON.String()}, "Content-Length": {strconv.Itoa(len(body))},
	}
	if h2.Interrupt(c.w.ResponseWriter, http.StatusGatewayTimeout, header, body) {
		return
	}
	header["Connection"] = []string{"close"} // the handler may not return for a while
	under := c.w.ResponseWriter.Header()
	clear(under)
	for name, values := range header {
		under[name] = values
	}
	c.w.ResponseWriter.WriteHeader(http.StatusGatewayTimeout)
	_, _ = c.w.ResponseWriter.Write(body)
	_ = http.NewResponseController(c.w.ResponseWriter).Flush()
}
