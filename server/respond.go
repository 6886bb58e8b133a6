package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/serializer"
)

// fail answers with an error. A response that has begun is cut off.
func (c *call) fail(err error) {
	if c.w.Code != 0 {
		panic(http.ErrAbortHandler)
	}
	if errors.Is(err, apistatus.ErrPathNotFound) {
		http.Error(c.w, err.Error(), http.StatusNotFound)
		return
	}
	if errors.Is(err, inflight.ErrBusy) {
		c.refuseBusy()
		return
	}
	status := apistatus.Of(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		c.w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	if e := c.write(int(status.Code), c.s.offer.ForStatus(c.req), status); e != nil {
		c.s.log.Debug("answer not written", "error", e)
	}
}

// write answers with an object whose kind is set.
func (c *call) write(code int, a request.ResponseFormat, obj runtime.Object) error {
	data, err := serializer.EncodeBody(obj, a.Media, a.Pretty)
	if err != nil {
		return err
	}
	return c.writeBytes(code, a.Media.String(), data)
}

// writeBytes answers with a complete body.
func (c *call) writeBytes(code int, contentType string, data []byte) error {
	h := c.w.Header()
	h["Content-Type"] = []string{contentType}
	if len(data) >= respond.GzipFrom && c.wantsGzip() {
		z := respond.StartGzip(c.w, code)
		defer z.Done()
		_, err := z.Write(data)
		return err
	}
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	c.w.WriteHeader(code)
	if c.req.Method == http.MethodHead {
		return nil
	}
	_, err := c.w.Write(data)
	return err
}

// wantsGzip reports whether the client accepts gzip. As in kube-apiserver, parameters such as
// q=0 are not understood.
func (c *call) wantsGzip() bool {
	for part := range strings.SplitSeq(c.req.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(part) == "gzip" {
			return true
		}
	}
	return false
}
