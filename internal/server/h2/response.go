package h2

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// gatherLimit is how many bytes of a response are buffered before they are sent.
const gatherLimit = 8 << 10

// response is the handler's ResponseWriter. It belongs to the handler.
type response struct {
	x      *exchange
	header http.Header
	// status and fields are fixed by WriteHeader. sent is set once they have been sent.
	status int
	fields []hpack.HeaderField
	typed  bool // the Content-Type is known or not needed
	sent   bool
	// length is the declared Content-Length, or -1.
	length, written int64
	trailers        []string
	*bufferedBody
	done bool
}

// bufferedBody is the pooled memory of a response.
type bufferedBody struct {
	buf    []byte
	fields []hpack.HeaderField
}

var gathers = sync.Pool{New: func() any { return &bufferedBody{buf: make([]byte, 0, gatherLimit)} }}

func (w *response) release() {
	g := w.bufferedBody
	w.bufferedBody, w.done = nil, true
	if g == nil {
		return
	}
	clear(w.fields)
	g.fields, g.buf = w.fields[:0], g.buf[:0]
	w.fields = nil
	gathers.Put(g)
}

// Header returns the header fields. Changes count until the head is written.
func (w *response) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader fixes the head of the response. The head is sent with the first flush, or at once if the code is
// informational.
func (w *response) WriteHeader(code int) {
	if w.status != 0 || w.done {
		return
	}
	if code < 100 || code > 999 {
		panic("h2: invalid WriteHeader code " + strconv.Itoa(code))
	}
	if w.bufferedBody == nil {
		w.bufferedBody = gathers.Get().(*bufferedBody)
	}
	if code < 200 {
		w.writeInformational(code)
		return
	}
	w.status, w.length = code, -1
	w.fields = w.bufferedBody.fields[:0]
	w.fixHeader()
}

// writeInformational sends an informational (1xx) head.
func (w *response) writeInformational(code int) {
	var fields []hpack.HeaderField
	for name, values := range w.header {
		if name != "Content-Length" && name != "Transfer-Encoding" {
			fields = appendFields(fields, name, values)
		}
	}
	c := w.x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.x.st.closed {
		c.writeHead(w.x.st, code, fields, false)
		c.wake()
	}
}

// fixHeader copies the header fields in their present state.
func (w *response) fixHeader() {
	allowed := bodyAllowed(w.status)
	for name, values := range w.header {
		switch {
		case name == "Content-Length" && len(values) > 0:
			if n, err := strconv.ParseUint(values[0], 10, 63); err == nil {
				w.length = int64(n)
				w.fields = append(w.fields, hpack.HeaderField{Name: "content-length", Value: values[0]})
			}
			continue
		case name == "Connection":
			if len(values) > 0 && values[0] == "close" {
				w.x.st.c.goAway()
			}
			continue
		case name == "Trailer":
			for _, v := range values {
				for key := range strings.SplitSeq(v, ",") {
					w.announceTrailer(strings.TrimSpace(key))
				}
			}
		case name == "Transfer-Encoding" || strings.HasPrefix(name, http.TrailerPrefix):
			continue
		}
		w.fields = appendFields(w.fields, name, values)
	}
	_, typed := w.header["Content-Type"]
	w.typed = typed || !allowed || w.header.Get("Content-Encoding") != ""
	if _, ok := w.header["Date"]; !ok {
		w.fields = append(w.fields, hpack.HeaderField{Name: "date", Value: dateHeader()})
	}
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// Write appends to the response.
func (w *response) Write(p []byte) (int, error) { return write(w, p) }

// WriteString is Write for strings.
func (w *response) WriteString(s string) (int, error) { return write(w, s) }

func write[T string | []byte](w *response, p T) (int, error) {
	if w.done {
		return 0, errClosed
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if w.length >= 0 && w.written+int64(len(p)) > w.length {
		return 0, http.ErrContentLength
	}
	w.written += int64(len(p))
	if len(w.buf)+len(p) <= gatherLimit {
		w.buf = append(w.buf, p...)
		return len(p), nil
	}
	if len(w.buf) > 0 {
		if err := w.flush(); err != nil {
			return 0, err
		}
		if len(p) <= gatherLimit {
			w.buf = append(w.buf, p...)
			return len(p), nil
		}
	}
	if err := w.emit([]byte(p), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// emit sends a piece of the response. For HEAD it sends only the head.
func (w *response) emit(p []byte, end bool) error {
	if !w.typed && len(p) > 0 {
		w.typed = true
		w.fields = append(w.fields, hpack.HeaderField{Name: "content-type", Value: http.DetectContentType(p)})
	}
	if w.x.req.Method == http.MethodHead {
		p = nil
	}
	return w.x.send(p, end)
}

func (w *response) flush() error {
	err := w.emit(w.buf, false)
	w.buf = w.buf[:0]
	return err
}

// FlushError sends the data written so far.
func (w *response) FlushError() error {
	if w.done {
		return errClosed
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.flush()
}

// Flush is FlushError without an error, for http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// finish sends the rest after the handler has returned.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	head, st := w.x.req.Method == http.MethodHead, w.x.st
	if st.src != nil {
		w.flush()
		return
	}
	w.findTrailers()
	if !w.sent && w.length < 0 && bodyAllowed(w.status) && (!head || w.written > 0) {
		w.fields = append(w.fields, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(len(w.buf))})
	}
	switch {
	case w.length > w.written && !head && bodyAllowed(w.status):
		st.c.mu.Lock()
		defer st.c.mu.Unlock()
		st.c.reset(st, http2.ErrCodeInternal, errors.New("h2: the handler wrote less than its Content-Length"))
	case len(w.trailers) > 0:
		if w.emit(w.buf, false) != nil {
			return
		}
		clear(w.fields)
		w.fields = w.fields[:0]
		for _, name := range w.trailers {
			w.fields = appendFields(w.fields, name, w.header[name])
		}
		w.x.sendTrailer()
	default:
		w.emit(w.buf, true)
	}
}

func (w *response) announceTrailer(name string) {
	name = http.CanonicalHeaderKey(name)
	if name != "" && httpguts.ValidTrailerHeader(name) && !w.isTrailer(name) {
		w.trailers = append(w.trailers, name)
	}
}

func (w *response) isTrailer(name string) bool {
	for _, t := range w.trailers {
		if t == name {
			return true
		}
	}
	return false
}

// findTrailers adds trailers that were set without being announced, and drops announced ones that were not set.
func (w *response) findTrailers() {
	for name, values := range w.header {
		if key, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			w.announceTrailer(key)
			w.header[http.CanonicalHeaderKey(key)] = values
		}
	}
	kept := w.trailers[:0]
	for _, t := range w.trailers {
		if _, ok := w.header[t]; ok {
			kept = append(kept, t)
		}
	}
	w.trailers = kept
}

// EnableFullDuplex has no effect: a body can always be read while the response is written.
func (w *response) EnableFullDuplex() error { return nil }

// SetReadDeadline makes reads of the body fail from t on.
func (w *response) SetReadDeadline(t time.Time) error {
	x := w.x
	if x.body == nil {
		return nil
	}
	return w.deadline(&x.readTimer, t, func() { x.body.fail(os.ErrDeadlineExceeded) })
}

// SetWriteDeadline ends the stream at t.
func (w *response) SetWriteDeadline(t time.Time) error {
	st := w.x.st
	return w.deadline(&w.x.writeTimer, t, func() {
		st.c.mu.Lock()
		defer st.c.mu.Unlock()
		st.c.reset(st, http2.ErrCodeInternal, os.ErrDeadlineExceeded)
	})
}

// deadline schedules f for t, or calls it at once if t has passed; a zero t cancels. It replaces the previous
// deadline.
func (w *response) deadline(timer **time.Timer, t time.Time, f func()) error {
	if !t.IsZero() && !t.After(time.Now()) {
		f()
		return nil
	}
	c := w.x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	stop(*timer)
	*timer = nil
	if !t.IsZero() && !w.x.st.closed && w.x.st.x != nil {
		*timer = time.AfterFunc(time.Until(t), f)
	}
	return nil
}
