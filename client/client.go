package client

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/trace"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Object is any Kubernetes object: metadata and a kind.
type Object interface {
	metav1.Object
	runtime.Object
}

// Options configure a Client. The zero value is ready to use.
type Options struct {
	// Scheme knows the Go types. Nil means the package's Scheme.
	Scheme *runtime.Scheme
	// UserAgent is how requests introduce themselves. Empty means the UserAgent of
	// the rest.Config, and if that is empty "fairlead/" and a version.
	UserAgent string
	// ContentType is the encoding to prefer where the type has it: JSON if empty,
	// ContentTypeProtobuf or CBOR. A server that cannot do it answers in JSON, and is sent JSON
	// once it has refused a body for its encoding.
	ContentType string
	// Silence is how long the server may send no data, neither the start of a response nor
	// more of one, before the request fails with ErrSilent. Of streams it applies to
	// watches with bookmarks. Zero is three minutes, below zero no limit.
	Silence time.Duration
	// Observe, if set, is called for every request when its response has been read, its
	// stream has begun, or it has failed; ctx is the request's. It runs on the goroutine
	// that sent the request, which waits for it. Metrics.Observe is one. To change the
	// request itself, for a traceparent for example, use WrapTransport of the rest.Config.
	Observe func(ctx context.Context, x Exchange)
	// Discovery, if set, is a client of the same server, perhaps with another user, whose knowledge of the server's kinds
	// this client shares. It also sends the requests for it.
	Discovery *Client
	// ShareObjects lets readers of this process have each object once: those that promise not to modify objects
	// (Resource.Interned), of clients with ShareObjects, get one object if they read the same bytes in a watch or a Get, or as the
	// answer to a write; those of a List are its own. It is for programs all of whose readers keep that promise.
	ShareObjects bool
	// Trace, if set, records the arrivals of events in informers and the reconciles of
	// controllers, and requests carry the reconcile that sent them.
	Trace *trace.Log
}

// The encodings of objects on the wire.
const (
	ContentTypeJSON     = "application/json"
	ContentTypeProtobuf = "application/vnd.kubernetes.protobuf"
	ContentTypeCBOR     = "application/cbor"
)

// Version is the version in the default user agent.
const Version = "v0.1.0"

// Client is the access to one API server. It is safe for concurrent use.
type Client struct {
	scheme *runtime.Scheme
	rest   *REST
	form   encoding // preferred
	trace  *trace.Log
	shares bool        // Options.ShareObjects
	noCBOR atomic.Bool // the server has refused a body in CBOR
	disco  *discovery

	resources sync.Map // reflect.Type -> Resource[T] that For made
}

// New returns a client for the server in cfg. It sends no request yet. The transport, TLS
// and credentials are those of rest.TransportFor; cfg.Transport may be any
// http.RoundTripper, also one that calls a handler in memory, and then cfg.Host may be
// empty. cfg.Timeout limits every request except watches; cfg.QPS and cfg.Burst are
// ignored, cfg.RateLimiter is used.
func New(cfg *rest.Config, o Options) (*Client, error) {
	prefer, known := map[string]encoding{"": inJSON, ContentTypeJSON: inJSON, ContentTypeProtobuf: inProtobuf, ContentTypeCBOR: inCBOR}[o.ContentType]
	if !known {
		return nil, fmt.Errorf("client: content type %q is not supported", o.ContentType)
	}
	if o.Scheme == nil {
		o.Scheme = Scheme
	}
	cfg = rest.CopyConfig(cfg)
	if o.UserAgent != "" {
		cfg.UserAgent = o.UserAgent
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "fairlead/" + Version
	}
	r, err := newREST(cfg, o)
	if err != nil {
		return nil, err
	}
	c := &Client{scheme: o.Scheme, rest: r, form: prefer, shares: o.ShareObjects, trace: o.Trace}
	if o.Discovery != nil {
		c.disco = o.Discovery.disco
	} else {
		c.disco = newDiscovery(r)
	}
	return c, nil
}

// As returns a client on the same connections that impersonates a user; the server must
// allow it. It starts with empty discovery.
func (c *Client) As(user string) *Client {
	r := *c.rest
	of := *r.http
	of.Transport = transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: user}, of.Transport)
	r.http = &of
	return &Client{scheme: c.scheme, rest: &r, form: c.form, shares: c.shares, trace: c.trace, disco: newDiscovery(&r)}
}

// Scheme returns the scheme that maps kinds to Go types.
func (c *Client) Scheme() *runtime.Scheme { return c.scheme }

// Trace is the client's log of the lives of events; nil to record no events.
func (c *Client) Trace() *trace.Log { return c.trace }

// REST returns the layer of plain requests.
func (c *Client) REST() *REST { return c.rest }
