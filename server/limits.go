package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/internal/server/health"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/memory"
	"fairlead.dev/internal/server/serializer"
)

// admitOne takes a place among the requests in flight.
func (c *serving) admitOne() (err error) {
	if c.Info.LongRunning() {
		return nil
	}
	user := c.User.Name
	if c.inProcess() || c.User.InGroup(auth.MastersGroup) || !c.Info.IsResource && health.IsPath(c.Info.Path) {
		user = ""
	}
	c.Place, err = c.s.inflight.Enter(c.Info.ReadOnly(), user)
	return err
}

// inProcess reports whether the request has come through Transport.
func (c *serving) inProcess() bool { return c.HTTP.RemoteAddr == memory.RemoteAddr }

// refuseBusy answers with inflight.ErrBusy, and how many seconds the client should wait.
func (c *serving) refuseBusy(retryAfter int64) {
	c.terminated(http.StatusTooManyRequests)
	c.Writer.Header().Set("Retry-After", strconv.FormatInt(retryAfter, 10))
	http.Error(c.Writer, inflight.ErrBusy.Error(), http.StatusTooManyRequests)
}

// arm sets the deadline by which the request must be answered: RequestTimeout, or the client's
// timeout if that is less. When it passes, a request
// without an answer is told 504 and its context ends, and an answer that has begun is cut off.
// The deadline does what kube-apiserver's timeout filter does, without a goroutine for each
// request. A handler that does not look at its context keeps its place until it returns.
func (c *serving) arm() {
	c.Limit = c.s.cfg.RequestTimeout
	if c.Timeout > 0 && c.Timeout < c.Limit {
		c.Limit = c.Timeout
	}
	if c.Info.LongRunning() || c.inProcess() {
		return
	}
	nethttp := !h2.Serves(c.Writer.ResponseWriter)
	if nethttp && c.HTTP.ProtoMajor == 2 { // a deadline ends a request's context over HTTP/1.1 only
		c.Context, c.endContext = context.WithCancel(c.Context)
		c.HTTP = c.HTTP.WithContext(c.Context)
	}
	c.Deadline = c.Start.Add(c.Limit)
	c.Writer.SetDeadline(time.Until(c.Deadline), nethttp, c.tooLate)
}

// tooLate answers with 504 in place of the handler, which may be running. Where net/http serves
// HTTP/2, the stream ends only when the handler returns, or is reset.
func (c *serving) tooLate() {
	status := apistatus.Of(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
	body, err := json.Marshal(status)
	if err != nil {
		panic(err) // a Status can always be encoded
	}
	header := http.Header{
		"Audit-Id": {c.auditID}, "Cache-Control": noCache, "Content-Type": {serializer.JSON.String()}, "Content-Length": {strconv.Itoa(len(body))},
	}
	if h2.Interrupt(c.Writer.ResponseWriter, http.StatusGatewayTimeout, header, body) {
		return
	}
	if c.HTTP.ProtoMajor == 1 {
		header["Connection"] = []string{"close"} // the handler may not return for a while
	}
	under := c.Writer.ResponseWriter.Header()
	clear(under)
	for name, values := range header {
		under[name] = values
	}
	c.Writer.ResponseWriter.WriteHeader(http.StatusGatewayTimeout)
	_, _ = c.Writer.ResponseWriter.Write(body)
	_ = http.NewResponseController(c.Writer.ResponseWriter).Flush()
	if c.endContext != nil {
		c.endContext()
	}
}
