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

// call is one request on its way through the server. It belongs to the
// goroutine that serves it.
type call struct {
	s     *Server
	w     *respond.Writer
	req   *http.Request
	ctx   context.Context
	query url.Values
	info  request.Info
	user  *auth.User
	start time.Time
	// auditID names the request to its client, in the header Audit-ID.
	auditID string
	// hops holds the hops of a write, if it is traced.
	hops [trace.Queued + 1]trace.Instant
	// timeout is what the client gives the call; 0 if it does not say.
	timeout time.Duration

	// The rest is set once the path has been routed to a resource.
	ep      *endpoint.Endpoint
	accept  request.ResponseFormat
	dryRun  bool
	applies bool // server-side
	quiet   bool // nobody is told of the write; see Config.Written
	altered bool // admission has put another object in place of the one asked for
	// sent is the request's body.
	sent request.Body
	// lastRead is the object that was decoded last, and its text without the
	// record of owners.
	lastRead struct {
		of   *watchcache.Object
		text []byte
		// foreign says that the text may have more than the object.
		foreign bool
	}
	// tail is the rest of an answer that has begun; handed says that the connection
	// sees to it.
	tail   tail
	handed bool
	// injectedFaults are those of faults that have no revision yet; struck says that the call
	// has been looked at.
	injectedFaults []trace.InjectedFault
	faultsChecked  bool
	// place is what the request holds among those that run.
	place inflight.Place
	// warned holds the warnings given already; each goes out once.
	warned map[string]bool
}

// tail is a long answer that has begun: a watch, or most of a list.
type tail interface {
	// HandOver leaves it to the connection, which calls done at its end, or says that
	// the connection cannot take it: then it is to be run.
	HandOver(done func()) bool
	Run()
}

// verb answers a call or says why not.
type verb func(c *call) error

// warn adds a Warning header to the answer, which must not have begun.
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

// warnOne is warn for rules that take a function.
func (c *call) warnOne(text string) { c.warn(text) }

// body returns the whole body of the request.
func (c *call) body() ([]byte, error) { return c.sent.Read(c.req, &c.place) }

// options reads a verb's options from the query.
func (c *call) options(into runtime.Object) error { return request.DecodeOptions(c.query, into) }

// namespace is the one objects of this call live in.
func (c *call) namespace() string {
	if c.ep.Namespaced {
		return c.info.Namespace
	}
	return ""
}

// notFound is the answer for an object that is not there.
func (c *call) notFound(name string) error { return apierrors.NewNotFound(c.ep.ServedGR, name) }

// form returns the representation of the call's responses.
func (c *call) form() (*represent.Representation, error) {
	return represent.New(c.ctx, c.ep, c.accept, c.query)
}
