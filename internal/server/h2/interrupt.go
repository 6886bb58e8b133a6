package h2

import (
	"net/http"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// Interrupt gives the whole answer to a request whose handler has given nothing of it yet,
// and may be running; the request's context then ends. The caller sees to it that the handler
// does not write to w from now on. Interrupt returns when the answer is on its way or the
// stream has ended. It is false if w is not of a connection of this package; then nothing has
// been done.
func Interrupt(w http.ResponseWriter, code int, header http.Header, body []byte) bool {
	for {
		switch t := w.(type) {
		case *response:
			t.x.interrupt(code, header, body)
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

func (x *exchange) interrupt(code int, header http.Header, body []byte) {
	fields := []hpack.HeaderField{{Name: "date", Value: today()}}
	for name, values := range header {
		if name == "Content-Length" {
			continue
		}
		fields = appendFields(fields, name, values)
	}
	fields = append(fields, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(len(body))})
	if x.req.Method == http.MethodHead {
		body = nil
	}
	st, c := x.st, x.st.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.closed || x.w.sent {
		return
	}
	x.w.sent = true
	c.writeHead(st, code, fields, len(body) == 0)
	if len(body) == 0 {
		c.finished(st)
		c.flush()
		return
	}
	x.pending, x.ends, x.sending = body, true, true
	c.mu.queue.push(st)
	c.fill()
	c.flush()
	for x.sending {
		x.moved.Wait()
	}
}
