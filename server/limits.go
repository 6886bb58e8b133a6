package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/memory"
	"fairlead.dev/internal/server/serializer"
)

// admitOne takes a place among the requests in flight.
func (c *call) admitOne() (err error) {
	if c.info.LongRunning() {
		return nil
	}
	user := c.user.Name
	if c.inProcess() || c.user.InGroup(auth.MastersGroup) || !c.info.IsResource && isHealth(c.info.Path) {
		user = ""
	}
	c.place, err = c.s.inflight.Enter(c.info.Verb == "get" || c.info.Verb == "list", user)
	return err
}

// inProcess reports whether the request has come through Transport.
func (c *call) inProcess() bool { return c.req.RemoteAddr == memory.RemoteAddr }

// refuseBusy answers with inflight.ErrBusy.
func (c *call) refuseBusy() {
	c.terminated(http.StatusTooManyRequests)
	c.w.Header().Set("Retry-After", "1")
	http.Error(c.w, inflight.ErrBusy.Error(), http.StatusTooManyRequests)
}

// arm sets the deadline by which the request must be answered. When it passes, a request
// without an answer is told 504 and its context ends, and an answer that has begun is cut off.
// The deadline does what kube-apiserver's timeout filter does, without a goroutine for each
// request. A handler that does not look at its context keeps its place until it returns.
func (c *call) arm() {
	if c.info.LongRunning() || c.inProcess() || c.s.cfg.RequestTimeout < 0 {
		return
	}
	c.w.SetDeadline(c.limit()-time.Since(c.start), c.req.ProtoMajor == 1, c.tooLate)
}

// limit returns the time that the request may take: RequestTimeout, or the client's timeout if
// that is less.
func (c *call) limit() time.Duration {
	if c.timeout > 0 && c.timeout < c.s.cfg.RequestTimeout {
		return c.timeout
	}
	return c.s.cfg.RequestTimeout
}

// tooLate answers with 504 in place of the handler, which may be running.
func (c *call) tooLate() {
	status := apistatus.Of(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	body, err := json.Marshal(status)
	if err != nil {
		panic(err) // a Status has nothing that cannot be encoded
	}
	header := http.Header{
		"Audit-Id": {c.auditID}, "Cache-Control": noCache, "Content-Type": {serializer.JSON.String()}, "Content-Length": {strconv.Itoa(len(body))},
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
