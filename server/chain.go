package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/trace"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	c := &call{s: s, req: req, ctx: req.Context(), w: &respond.Writer{ResponseWriter: w}, start: time.Now()}
	h := w.Header()
	if c.auditID = req.Header.Get("Audit-ID"); c.auditID == "" {
		c.auditID = uuid.NewString()
	}
	h["Audit-Id"] = []string{c.auditID}
	h["Cache-Control"] = noCache
	defer s.finish(c)
	if err := c.serve(); err != nil {
		c.fail(err)
	}
	if c.tail != nil {
		if c.handed = c.tail.HandOver(c.atEnd()); c.handed {
			return
		}
		c.query, c.info.Parts, c.warned = nil, nil, nil // not read any more
		c.tail.Run()
		if st, ok := c.tail.(*watch.Stream); ok && st.Dropped() {
			panic(http.ErrAbortHandler)
		}
	}
}

var noCache = []string{"no-cache, private"}

// serve answers the request or returns why it cannot.
func (c *call) serve() error {
	if c.req.URL.RawQuery != "" {
		c.query = c.req.URL.Query()
	}
	var ok bool
	c.info, ok = request.ParseInfo(c.req, c.query)
	if !ok {
		path := c.req.URL.Path
		http.Error(c.w, fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %s", path, path), http.StatusInternalServerError)
		return nil
	}
	var err error
	if c.timeout, err = request.TimeoutOf(c.query); err != nil {
		return err
	}
	c.arm()
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.admitOne(); err != nil {
		return err
	}
	if err := c.authorize(c.info.Verb, c.info.Name); err != nil {
		return err
	}
	if to := c.findPeer(); to != nil {
		return c.proxyToPeer(to)
	}
	c.stamp(trace.Authorized)
	if !c.info.IsResource {
		return c.servePath()
	}
	return c.serveResource()
}

// finish counts the call and answers a panic of the handler with 500.
func (s *Server) finish(c *call) {
	p := recover()
	if c.w.Stop() { // the deadline has answered, and the handler's output is dropped
		c.w.Code = http.StatusGatewayTimeout
		c.terminated(c.w.Code)
		if p == http.ErrAbortHandler {
			p = nil
		}
	}
	for _, one := range c.injectedFaults {
		s.cfg.Trace.FaultInjected(one)
	}
	if !c.handed {
		c.place.Leave()
	}
	if p != nil {
		if p == http.ErrAbortHandler {
			c.observe()
			panic(p)
		}
		s.log.Error("panic serving a request", "method", c.req.Method, "path", c.req.URL.Path, "panic", p, "stack", string(debug.Stack()))
		if c.w.Code != 0 {
			c.observe()
			panic(http.ErrAbortHandler)
		}
		c.fail(fmt.Errorf("This request caused apiserver to panic. Look in the logs for details."))
	}
	if !c.handed {
		c.served()()
	}
}

// atEnd returns the function to call when a response that was handed over has ended. It does
// not keep the call alive.
func (c *call) atEnd() func() {
	place, served := c.place, c.served()
	if !place.Taken() {
		return served
	}
	return func() {
		place.Leave()
		served()
	}
}

// served returns the function that counts and logs the call at its end. It does not keep the
// call alive.
func (c *call) served() func() {
	route, start := c.s.metrics.Route(c.counted()), c.start
	if !c.s.log.Enabled(c.ctx, slog.LevelDebug) {
		return func() { route.Observe(start) }
	}
	log := c.s.log.With("method", c.req.Method, "path", c.req.URL.RequestURI(), "code", c.w.Code, "user", userName(c.user))
	return func() {
		route.Observe(start)
		log.Debug("served", "took", time.Since(start))
	}
}

// within bounds the rest of the call's work to d, or to the timeout of the client if that is
// less.
func (c *call) within(d time.Duration) context.CancelFunc {
	if c.timeout > 0 {
		d = min(d, c.timeout)
	}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(c.ctx, d)
	return cancel
}

// updateTimeout bounds reads and writes of single objects, as kube-apiserver does.
const updateTimeout = 34 * time.Second
