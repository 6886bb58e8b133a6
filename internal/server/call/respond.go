package call

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/serializer"
)

// Write answers with an object whose kind is set.
func (c *Call) Write(code int, a request.ResponseFormat, obj runtime.Object) error {
	if s, ok := obj.(*metav1.Status); ok {
		c.Audit.Status(s)
	}
	data, err := serializer.EncodeBody(obj, a.Media, a.Pretty)
	if err != nil {
		return err
	}
	return c.WriteBytes(code, a.Media.String(), data)
}

// WriteBytes answers with a complete body.
func (c *Call) WriteBytes(code int, contentType string, data []byte) error {
	h := c.Writer.Header()
	h["Content-Type"] = []string{contentType}
	if len(data) >= respond.GzipFrom && c.wantsGzip() {
		z := respond.StartGzip(c.Writer, code)
		defer z.Done()
		_, err := z.Write(data)
		return err
	}
	h["Content-Length"] = []string{strconv.Itoa(len(data))}
	c.Writer.WriteHeader(code)
	if c.HTTP.Method == http.MethodHead {
		return nil
	}
	_, err := c.Writer.Write(data)
	return err
}

// WriteJSON answers with indented JSON.
func (c *Call) WriteJSON(code int, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return c.WriteBytes(code, "application/json", data)
}

// WriteText answers with text that a browser must not take for anything else.
func (c *Call) WriteText(code int, text string) error {
	c.Writer.Header().Set("X-Content-Type-Options", "nosniff")
	return c.WriteBytes(code, TextType, []byte(text))
}

// TextType is the Content-Type of text.
const TextType = "text/plain; charset=utf-8"

// wantsGzip reports whether the client accepts gzip. As in kube-apiserver, parameters such as
// q=0 are not understood.
func (c *Call) wantsGzip() bool {
	for part := range strings.SplitSeq(c.HTTP.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(part) == "gzip" {
			return true
		}
	}
	return false
}
