package h2

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// headerBlock is a header block being compressed.
type headerBlock []byte

func (b *headerBlock) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// writeHead writes response headers, or trailers if status is 0. end marks the end of the stream. conn.mu is held,
// because blocks must be sent in the order in which they were compressed.
func (c *conn) writeHead(st *stream, status int, fields []hpack.HeaderField, end bool) {
	c.mu.block = c.mu.block[:0]
	if status != 0 {
		c.mu.hpack.WriteField(hpack.HeaderField{Name: ":status", Value: statusText(status)})
	}
	for _, f := range fields {
		c.mu.hpack.WriteField(f)
	}
	b := []byte(c.mu.block)
	n := min(len(b), c.mu.maxFrame)
	c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: st.id, BlockFragment: b[:n], EndStream: end, EndHeaders: n == len(b),
	})
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = min(len(b), c.mu.maxFrame)
		c.framer.WriteContinuation(st.id, n == len(b), b[:n])
	}
}

func statusText(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// appendFields appends the values of a header in wire form.
func appendFields(fields []hpack.HeaderField, name string, values []string) []hpack.HeaderField {
	if !httpguts.ValidHeaderFieldName(name) {
		return fields
	}
	lower := lowerName(name)
	for _, v := range values {
		if httpguts.ValidHeaderFieldValue(v) {
			// A value that differs in every response would only evict reusable ones from the compression table.
			fields = append(fields, hpack.HeaderField{Name: lower, Value: v, Sensitive: lower == "audit-id"})
		}
	}
	return fields
}

// names caches header names in lower case by their canonical form. Servers use few; the limit is for handlers that
// generate names.
var names struct {
	sync.Map
	n atomic.Int32
}

func lowerName(name string) string {
	if l, ok := names.Load(name); ok {
		return l.(string)
	}
	l := strings.ToLower(name)
	if names.n.Load() < 200 {
		names.n.Add(1)
		names.Store(name, l)
	}
	return l
}

// cachedDate is the Date header of a second.
type cachedDate struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[cachedDate]

// dateHeader returns the present time as a Date header.
func dateHeader() string {
	now := time.Now()
	if d := lastDate.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &cachedDate{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}
