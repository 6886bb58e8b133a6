package h2

import (
	"net/http"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// Interrupt sends the whole response to a request whose handler has not sent any of it, and may still be running;
// the request's context then ends. The caller must ensure that the handler no longer writes to w. Interrupt returns
// when the response has been taken for writing or the stream has ended. It returns false, without any effect, if w
// is not of a connection of this package.
func Interrupt(w http.ResponseWriter, code int, header http.Header, body []byte) bool {
	r := find(w)
	if r == nil {
		return false
	}
	r.x.interrupt(code, header, body)
	return true
}

// Serves reports whether w is of a connection of this package.
func Serves(w http.ResponseWriter) bool { return find(w) != nil }

// find returns the response that w wraps, or nil if w is not of a connection of this package.
func find(w http.ResponseWriter) *response {
	for {
		switch t := w.(type) {
		case *response:
			return t
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return nil
		}
	}
}

func (x *exchange) interrupt(code int, header http.Header, body []byte) {
	fields := []hpack.HeaderField{{Name: "date", Value: dateHeader()}}
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
		c.endLocal(st)
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
