package server

import (
	"context"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// call is one request. It belongs to the goroutine that serves it.
type call struct {
	s     *Server
	w     *respond.Writer
	req   *http.Request
	ctx   context.Context
	query url.Values
	info  request.Info
	user  *auth.User
	start time.Time
	// auditID identifies the request to its client, in the header Audit-ID.
	auditID string
	// hops has the times of a write's hops, if it is traced.
	hops [trace.Queued + 1]trace.Instant
	// timeout is that of the client, 0 if it gives none.
	timeout time.Duration

	// The rest is set once the path has been routed to a resource.
	ep      *endpoint.Endpoint
	accept  request.ResponseFormat
	dryRun  bool
	applies bool // server-side
	quiet   bool // Config.Written is not called for the write
	altered bool // admission has put another object in place of the one asked for
	// sent is the request's body.
	sent request.Body
	// lastRead is the object decoded last, with its text without managed fields.
	lastRead struct {
		of   *watchcache.Object
		text []byte
		// foreign reports that the text may have fields that the object lacks.
		foreign bool
	}
	// tail is the rest of a long response. handed: the connection sends it.
	tail   tail
	handed bool
	// injectedFaults are faults that have hit the write and have no revision yet.
	// faultsChecked: the faults of this write have been looked up.
	injectedFaults []trace.InjectedFault
	faultsChecked  bool
	// place is the request's place among those in flight.
	place inflight.Place
	// warned has the warnings given already. Each is sent once.
	warned map[string]bool
}

// tail is a long answer that has begun: a watch, or most of a list.
type tail interface {
	// HandOver leaves the answer to the connection, which calls done at its end. It returns
	// false if the connection cannot take it; the caller must then run it.
	HandOver(done func()) bool
	Run()
}

// verb answers a call or returns why it cannot.
type verb func(c *call) error

// warn adds Warning headers to the response, which must not have begun.
func (c *call) warn(texts ...string) {
	for _, text := range texts {
		if c.warned[text] {
			continue
		}
		if c.warned == nil {
			c.warned = map[string]bool{}
		}
		c.warned[text] = true
		c.w.Header().Add("Warning", "299 - "+request.QuoteWarning(text))
	}
}

// warnOne is warn as a function of one text.
func (c *call) warnOne(text string) { c.warn(text) }

// body returns the whole body of the request.
func (c *call) body() ([]byte, error) { return c.sent.Read(c.req, &c.place) }

// options reads a verb's options from the query.
func (c *call) options(into runtime.Object) error { return request.DecodeOptions(c.query, into) }

// namespace returns the namespace of the call's objects.
func (c *call) namespace() string {
	if c.ep.Namespaced {
		return c.info.Namespace
	}
	return ""
}

// notFound returns the error for an object that does not exist.
func (c *call) notFound(name string) error { return apierrors.NewNotFound(c.ep.ServedGR, name) }

// form returns the representation of the call's responses.
func (c *call) form() (*represent.Representation, error) {
	return represent.New(c.ctx, c.ep, c.accept, c.query)
}
