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
	r, ok := find[*response](w)
	if ok {
		r.x.interrupt(code, header, body)
	}
	return ok
}

// Serves reports whether w is of a connection of this package.
func Serves(w http.ResponseWriter) bool {
	_, ok := find[*response](w)
	return ok
}

// find returns the response of type T that w is or wraps.
func find[T any](w http.ResponseWriter) (_ T, ok bool) {
	for {
		if t, ok := w.(T); ok {
			return t, true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			var none T
			return none, false
		}
		w = wrapper.Unwrap()
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
	x.st.c.mu.Lock()
	defer x.st.c.mu.Unlock()
	if !x.w.sent {
		_ = x.sendWithHead(code, fields, body, true) // an error means that the stream has ended
	}
}
