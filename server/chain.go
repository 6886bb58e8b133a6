package server

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"fairlead.dev/trace"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	c := &call{s: s, req: req, ctx: req.Context(), w: &recorder{ResponseWriter: w}, start: time.Now()}
	h := w.Header()
	id := req.Header.Get("Audit-ID")
	if id == "" {
		id = uuid.NewString()
	}
	h["Audit-Id"] = []string{id}
	h["Cache-Control"] = noCache
	defer s.finish(c)
	if err := c.serve(); err != nil {
		c.fail(err)
	}
	if c.tail != nil {
		if c.handed = c.tail.handOver(c.atEnd()); c.handed {
			return
		}
		c.query, c.info.parts, c.warned = nil, nil, nil // nobody asks any more
		c.tail.run()
		if st, ok := c.tail.(*stream); ok && st.sieve.dropped.Load() {
			panic(http.ErrAbortHandler)
		}
	}
}

var noCache = []string{"no-cache, private"}

// serve does what the request asks.
func (c *call) serve() error {
	if c.req.URL.RawQuery != "" {
		c.query = c.req.URL.Query()
	}
	var ok bool
	c.info, ok = parseInfo(c.req, c.query)
	if !ok {
		path := c.req.URL.Path
		http.Error(c.w, fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %s", path, path), http.StatusInternalServerError)
		return nil
	}
	if err := c.readTimeout(); err != nil {
		return err
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.admitOne(); err != nil {
		return err
	}
	if err := c.authorize(c.info.verb, c.info.name); err != nil {
		return err
	}
	if to := c.elsewhere(); to != nil {
		return c.passElsewhere(to)
	}
	c.pass(trace.Authorized)
	if !c.info.isResource {
		return c.servePath()
	}
	return c.serveResource()
}

// admitOne passes the gate for the sort of request this is. Requests that run
// long by nature are not counted against it.
func (c *call) admitOne() error {
	if c.info.runsLong() {
		return nil
	}
	g := &c.s.writes
	switch c.info.verb {
	case "watch":
		return nil
	case "get", "list":
		g = &c.s.reads
	}
	if err := g.enter(); err != nil {
		return err
	}
	c.leave = g.leave
	return nil
}

// finish counts the call; a panic on the way ends the request, not the server.
func (s *Server) finish(c *call) {
	p := recover()
	for _, one := range c.strikes {
		s.cfg.Trace.Struck(one)
	}
	if c.leave != nil && !c.handed {
		c.leave()
	}
	if p != nil {
		if p == http.ErrAbortHandler {
			s.metrics.observe(c)
			panic(p)
		}
		s.log.Error("panic serving a request", "method", c.req.Method, "path", c.req.URL.Path, "panic", p, "stack", string(debug.Stack()))
		if c.w.code != 0 {
			s.metrics.observe(c)
			panic(http.ErrAbortHandler)
		}
		c.fail(fmt.Errorf("This request caused apiserver to panic. Look in the logs for details."))
	}
	if !c.handed {
		c.served()()
	}
}

// atEnd is what is to be done when an answer that was handed over has ended. It holds
// nothing of the call.
func (c *call) atEnd() func() {
	leave, served := c.leave, c.served()
	if leave == nil {
		return served
	}
	return func() {
		leave()
		served()
	}
}

// served tells how to count the call, and log it, when it has been answered. It
// holds nothing of the call, whose answer may go on without it.
func (c *call) served() func() {
	route, start := c.s.metrics.route(c), c.start
	if !c.s.log.Enabled(c.ctx, slog.LevelDebug) {
		return func() { route.observe(start) }
	}
	log := c.s.log.With("method", c.req.Method, "path", c.req.URL.RequestURI(), "code", c.w.code, "user", userName(c.user))
	return func() {
		route.observe(start)
		log.Debug("served", "took", time.Since(start))
	}
}

// readTimeout reads the time the client gives the call, if it says so.
func (c *call) readTimeout() error {
	text := c.query.Get("timeout")
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return apierrors.NewBadRequest("invalid timeout specified in the request URL - " + err.Error())
	}
	c.timeout = max(d, 0)
	return nil
}

// within bounds the rest of the call's work in time: to d, or to less if the
// client has said so.
func (c *call) within(d time.Duration) context.CancelFunc {
	if c.timeout > 0 {
		d = min(d, c.timeout)
	}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(c.ctx, d)
	return cancel
}

// recorder is a ResponseWriter that remembers what was answered.
type recorder struct {
	http.ResponseWriter
	code    int
	written int64
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.written += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// FlushError pushes what has been written to the client.
func (r *recorder) FlushError() error { return http.NewResponseController(r.ResponseWriter).Flush() }

// Flush is for handlers that look for it in place of http.ResponseController.
func (r *recorder) Flush() { _ = r.FlushError() }

// Hijack likewise.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(r.ResponseWriter).Hijack()
}
