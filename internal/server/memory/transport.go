package memory

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"fairlead.dev/internal/bodies"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
)

// New returns a RoundTripper that calls the handler; see server.Transport.
func New(h http.Handler, user *auth.User) http.RoundTripper { return transport{h, user} }

// RemoteAddr is the remote address of requests that come through a Transport. No connection
// has it.
const RemoteAddr = "memory"

type transport struct {
	handler http.Handler
	user    *auth.User
}

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if t.user != nil {
		ctx = auth.WithUser(ctx, t.user)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if isStream(req) {
		return t.stream(ctx, req)
	}
	w := &memoryWriter{header: http.Header{}}
	err := serveInto(t.handler, w, incoming(ctx, req))
	if req.Body != nil {
		req.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK) // as net/http does for a handler that writes no header
	return response(req, w.code, w.sent, bodies.New(w.body), int64(len(w.body))), nil
}

// stream serves the request on a goroutine and returns when the answer begins.
func (t transport) stream(ctx context.Context, req *http.Request) (*http.Response, error) {
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	w := newPipe(asked, cancel)
	in := incoming(ctx, req)
	go func() {
		defer cancel()
		err := serveInto(t.handler, w, in)
		w.WriteHeader(http.StatusOK)
		if err == nil && w.rest != nil {
			w.passOn()
			return
		}
		if err == nil {
			// A watch ends in order when its request is cancelled; that is no end of
			// the answer, and its reader is not told so.
			err = asked.Err()
		}
		if err == nil {
			err = io.EOF
		}
		w.finish(err)
		w.unhook()
		if w.rest != nil { // the handler has panicked since
			w.rest.Close(err)
		}
	}()
	select {
	case <-w.started:
	case <-ctx.Done():
		select {
		case <-w.started: // it began and ended at once
		default:
			return nil, ctx.Err()
		}
	}
	return response(req, w.code, w.sent, w, -1), nil
}

// isStream reports whether the response may be long.
func isStream(req *http.Request) bool {
	if req.Method != http.MethodGet {
		return false
	}
	var query url.Values
	if req.URL.RawQuery != "" {
		query = req.URL.Query()
	}
	in, _ := request.ParseInfo(req, query)
	return in.IsResource && (in.Verb == "list" || in.Verb == "watch")
}

// incoming turns a client's request into the one that a server sees.
func incoming(ctx context.Context, req *http.Request) *http.Request {
	in := req.WithContext(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	in.Header = req.Header.Clone() // the server may take headers off
	if in.Header == nil {
		in.Header = http.Header{}
	}
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), RemoteAddr
	return in
}

// serveInto runs the handler. A response that was cut off is an error.
func serveInto(h http.Handler, w http.ResponseWriter, req *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = req.Context().Err(); err == nil {
				err = io.ErrUnexpectedEOF
			}
		}
	}()
	h.ServeHTTP(w, req)
	return nil
}

func response(req *http.Request, code int, header http.Header, body io.ReadCloser, length int64) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: header, Body: body, ContentLength: length, Request: req,
	}
}

// memoryWriter keeps a whole response.
type memoryWriter struct {
	header, sent http.Header
	code         int
	body         []byte
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
	}
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body == nil {
		w.body = bodies.Room(len(p))[:0]
	}
	w.body = append(w.body, p...)
	return len(p), nil
}
