package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/inflight"
)

// fail answers with an error. A response that has begun is cut off.
func (c *serving) fail(err error) {
	if c.Writer.Code != 0 {
		panic(http.ErrAbortHandler)
	}
	if errors.Is(err, apistatus.ErrPathNotFound) {
		http.Error(c.Writer, err.Error(), http.StatusNotFound)
		return
	}
	if errors.Is(err, audit.ErrNotStored) {
		c.refuseUnaudited()
		return
	}
	if errors.Is(err, inflight.ErrBusy) {
		c.refuseBusy(1)
		return
	}
	if refusal := (*fairness.Refusal)(nil); errors.As(err, &refusal) {
		c.refuseBusy(refusal.RetryAfter)
		return
	}
	if cause := context.Cause(c.HTTP.Context()); errors.As(cause, new(apierrors.APIStatus)) {
		err = cause // the end of the page's session, which has made the request fail
	}
	status := apistatus.Of(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		c.Writer.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	if e := c.Write(int(status.Code), c.Negotiator.ForStatus(c.HTTP), status); e != nil {
		c.Log.Debug("answer not written", "error", e)
	}
}
