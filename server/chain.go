package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"fairlead.dev/internal/history"
	"fairlead.dev/internal/server/call"
	historyserver "fairlead.dev/internal/server/history"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/watchcache"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	c := &serving{s: s, Call: call.Call{
		Environment: s.env, HTTP: req, Context: watchcache.WithRequest(req.Context()), Writer: &respond.Writer{ResponseWriter: w}, Start: time.Now(),
	}}
	h := w.Header()
	if c.auditID = req.Header.Get("Audit-ID"); c.auditID == "" {
		c.auditID = uuid.NewString()
	}
	h["Audit-Id"] = []string{c.auditID}
	h["Cache-Control"] = noCache
	c.beginAudit()
	defer s.finish(c)
	if err := c.serve(); err != nil {
		c.fail(err)
	}
	if c.Tail != nil {
		if !c.Audit.KeepsBody() { // which needs all of the response here
			if c.handed = c.Tail.HandOver(c.atEnd()); c.handed {
				return
			}
		}
		c.Query, c.Info.Parts = nil, nil // not read any more
		c.Tail.Run()
		if st, ok := c.Tail.(*watch.Stream); ok && st.Dropped() {
			panic(http.ErrAbortHandler)
		}
	}
}

var noCache = []string{"no-cache, private"}

// serve answers the request or returns why it cannot.
func (c *serving) serve() error {
	if c.HTTP.URL.RawQuery != "" {
		c.Query = c.HTTP.URL.Query()
	}
	var ok bool
	c.Info, ok = request.ParseInfo(c.HTTP, c.Query)
	if !ok {
		path := c.HTTP.URL.Path
		http.Error(c.Writer, fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: unable to determine kind and namespace from url, %s", path, path), http.StatusInternalServerError)
		return nil
	}
	if !c.Info.LongRunning() { // the parameters of a proxied request are not this server's
		var err error
		if c.Timeout, err = request.TimeoutOf(c.Query); err != nil {
			return cmp.Or(c.auditFailed(err.Error()), err)
		}
	}
	if c.s.cfg.TrustCaches && c.writesOne() {
		watchcache.Trust(c.Context)
	}
	c.arm()
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.takeSeat(); err != nil {
		return err
	}
	if err := c.admitOne(); err != nil {
		return err
	}
	if c.Info.Path == history.Path {
		return historyserver.Source{Trace: c.s.cfg.Trace}.Serve(&c.Call)
	}
	if answered, err := c.AuthorizeRequest(); answered || err != nil {
		return err
	}
	if f := c.s.cfg.Precondition; f != nil {
		if err := f(c.Attributes(c.Info.Verb, c.Info.Name)); err != nil {
			return err
		}
	}
	if to := c.findPeer(); to != nil {
		if c.Info.Verb == "watch" { // whose beginning this server does not see
			c.Seat.Leave()
		}
		return c.proxyToPeer(to)
	}
	if !c.Info.IsResource {
		return c.servePath()
	}
	if !c.inProcess() { // whose requests are never refused for lack of memory
		c.Guard = c.s.guard
	}
	err := c.s.resources(&c.Call)
	if pressure.IsRefusal(err) {
		c.terminated(http.StatusTooManyRequests)
	}
	return err
}

// finish counts the call and answers a panic of the handler with 500.
func (s *Server) finish(c *serving) {
	p := recover()
	if c.endContext != nil {
		defer c.endContext()
	}
	if c.Writer.Stop() { // the deadline has answered, and the handler's output is dropped
		c.Writer.Code = http.StatusGatewayTimeout
		c.Audit.Late()
		c.terminated(c.Writer.Code)
		if p == http.ErrAbortHandler {
			p = nil
		}
	}
	if !c.handed {
		c.Place.Leave()
		c.Seat.Leave()
		c.Room.Leave()
		if c.forget != nil {
			c.forget()
		}
	}
	if p != nil {
		c.Audit.Panicked(p)
		if p == http.ErrAbortHandler {
			c.aborted()
			panic(p)
		}
		s.log.Error("panic serving a request", "method", c.HTTP.Method, "path", c.HTTP.URL.Path, "panic", p, "stack", string(debug.Stack()))
		if c.Writer.Code != 0 {
			c.aborted()
			panic(http.ErrAbortHandler)
		}
		c.fail(fmt.Errorf("This request caused apiserver to panic. Look in the logs for details."))
	}
	if !c.handed {
		c.served()(0)
	}
}

// atEnd returns the function to call when a response that was handed over has ended, with the bytes that were handed over. It
// does not keep the call alive.
func (c *serving) atEnd() func(bytes int64) {
	place, seat, room, forget, served := c.Place, c.Seat, c.Room, c.forget, c.served()
	if forget != nil { // the stream of a watch gives the seat and the memory back, which refer to the call
		return func(bytes int64) {
			forget()
			served(bytes)
		}
	}
	if !place.Taken() {
		return served
	}
	return func(bytes int64) {
		place.Leave()
		seat.Leave()
		room.Leave()
		served(bytes)
	}
}

// served returns the function that counts and logs the call at its end, with the bytes that the handler has not written. It
// does not keep the call alive.
func (c *serving) served() func(bytes int64) {
	route, start, record := c.s.metrics.Route(c.counted()), c.Start, c.Audit
	waited, written := c.Waited(), c.Writer.Written()
	if !c.Log.Enabled(c.Context, slog.LevelDebug) {
		return c.endSpan(func(bytes int64) {
			route.Observe(start, waited, written+bytes)
			record.End()
		})
	}
	log := c.Log.With("method", c.HTTP.Method, "path", c.HTTP.URL.RequestURI(), "code", c.Writer.Code, "user", c.UserName())
	return c.endSpan(func(bytes int64) {
		route.Observe(start, waited, written+bytes)
		record.End()
		log.Debug("served", "took", time.Since(start))
	})
}
