package call

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
	"fairlead.dev/watchcache"
)

// Environment holds the parts of a server that all its calls share.
type Environment struct {
	Log        *slog.Logger
	Negotiator request.Negotiator
	// NoWatchList refuses watches that ask for a list at their beginning.
	NoWatchList bool
	Registry    *endpoint.Registry
	Authorizer  auth.Authorizer
	// Objects describes the stored objects of a resource.
	Objects func(group, resource string) (fairness.Objects, bool)
	// Access counts authentications and authorizations; it may be nil.
	Access *metrics.Access
}

// Call is one request and its response.
type Call struct {
	*Environment
	HTTP    *http.Request
	Writer  *respond.Writer
	Context context.Context
	Query   url.Values
	Info    request.Info
	User    *auth.User
	// Start is when the request arrived; zero for a call of the server itself.
	Start time.Time
	// Timeout is the client's, 0 without one. Limit is the time that the whole request
	// may take.
	Timeout, Limit time.Duration
	// Deadline is when the server answers in place of the handler and ends Context; zero if it does not.
	Deadline time.Time
	// Audit records the request; nil if it is not recorded.
	Audit *audit.Record
	// Place is the request's place among those in flight.
	Place inflight.Place
	// Guard has the limit on memory that large work of the request counts against, and Room is the memory that it has reserved;
	// nil without a limit.
	Guard *pressure.Guard
	Room  *pressure.Room
	// Seat is the request's place at its priority level; nil if it has none. A watch gives it back when it has sent the
	// state that it begins with.
	Seat *fairness.Seat

	// Endpoint and Accept are set once the path has been routed to a resource. Endpoint is
	// nil before and for all other paths.
	Endpoint *endpoint.Endpoint
	Accept   request.ResponseFormat
	// DryRun is set by the verb from its options.
	DryRun bool
	// Tail is the rest of a long response, nil if the verb has written all of it.
	Tail Tail

	sent request.Body
	// waited is how long the call was in a queue, or waited for webhooks.
	waited time.Duration
	// warned has the warnings given already. Each is sent once.
	warned map[string]bool
}

// Verb answers a call or returns the error to answer with.
type Verb func(c *Call) error

// Tail is the rest of a long response that has begun: a watch, or most of a list.
type Tail interface {
	// HandOver leaves the response to the connection, which calls done at its end. It returns
	// false if the connection cannot take it; the caller must then run it.
	HandOver(done func(bytes int64)) bool
	Run()
}

// UpdateTimeout bounds reads and writes of single objects, as kube-apiserver does.
const UpdateTimeout = 34 * time.Second

// Warn adds Warning headers to the response, which must not have begun.
func (c *Call) Warn(texts ...string) {
	for _, text := range texts {
		if c.warned[text] {
			continue
		}
		if c.warned == nil {
			c.warned = map[string]bool{}
		}
		c.warned[text] = true
		c.Writer.Header().Add("Warning", "299 - "+request.QuoteWarning(text))
	}
}

// For returns a copy of the call for another object of its resource. Both share the warnings
// given, so the copies must warn one after the other.
func (c *Call) For(namespace, name string) *Call {
	if c.warned == nil {
		c.warned = map[string]bool{}
	}
	one := *c
	one.Info.Namespace, one.Info.Name = namespace, name
	return &one
}

// Options decodes a verb's options from the query.
func (c *Call) Options(into runtime.Object) error { return request.DecodeOptions(c.Query, into) }

// Namespace returns the namespace of the call's objects, "" for those without one.
func (c *Call) Namespace() string {
	if c.Endpoint.Namespaced {
		return c.Info.Namespace
	}
	return ""
}

// NotFound returns the error for an object that does not exist.
func (c *Call) NotFound(name string) error { return apierrors.NewNotFound(c.Endpoint.ServedGR, name) }

// Representation returns the negotiated representation of the call's responses.
func (c *Call) Representation() (*represent.Representation, error) {
	return represent.New(c.Context, c.Endpoint, c.Accept, c.Query)
}

// Outdated reports whether the endpoint may be out of date for the objects just read from the
// watch cache. The verb must then return endpoint.ErrRedefined.
func (c *Call) Outdated() bool { return c.Registry.Outdated(c.Endpoint) }

// Read returns an object of the watch cache, or NotFound.
func (c *Call) Read(name string, at watchcache.ReadAt) (*watchcache.Object, error) {
	o, _, err := c.Endpoint.Cache.Get(c.Context, c.Namespace(), name, at)
	if c.Outdated() {
		return nil, endpoint.ErrRedefined
	}
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, c.NotFound(name)
	}
	return o, nil
}

// DecodeObject decodes the body as an object of the endpoint's version and converts it to the
// hub version. directive is the fieldValidation of the options.
func (c *Call) DecodeObject(directive string) (resource.Object, error) {
	m, err := c.Negotiator.ContentType(c.HTTP)
	if err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	obj, warnings, err := c.Endpoint.DecodeBody(body, m, directive)
	c.Warn(warnings...)
	if err == nil {
		c.auditObject(obj)
	}
	return obj, err
}
