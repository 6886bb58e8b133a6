package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"fairlead.dev/internal/server/serializer"
)

// indented serves a handler's JSON with indentation.
func (c *serving) indented(h http.Handler) error {
	w := &buffered{ResponseWriter: c.Writer}
	h.ServeHTTP(w, c.HTTP)
	data := w.body.Bytes()
	if kind, _, _ := strings.Cut(c.Writer.Header().Get("Content-Type"), ";"); kind == serializer.JSON.String() {
		var b bytes.Buffer
		if json.Indent(&b, data, "", "  ") == nil {
			data = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		}
	}
	if w.code != 0 {
		c.Writer.WriteHeader(w.code)
	}
	_, err := c.Writer.Write(data)
	return err
}

// buffered holds a response back.
type buffered struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

func (b *buffered) WriteHeader(code int) { b.code = code }

func (b *buffered) Write(p []byte) (int, error) { return b.body.Write(p) }
