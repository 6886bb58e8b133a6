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

// Object is what every Kubernetes object is: metadata, and a kind.
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
	// Silence is how long the server may say nothing, neither begin an answer nor go on
	// with one, before the request fails with ErrSilent. Of streams it counts for watches
	// with bookmarks. Zero is three minutes, below zero is for ever.
	Silence time.Duration
	// Observe, if set, is told of every request when its answer has been read, or its
	// stream has begun, or it has failed; ctx is the request's. It is called from
	// whichever goroutine sent it and holds that one up. Metrics.Observe is one; what
	// must be in the request itself, as a traceparent, is WrapTransport's of the
	// rest.Config.
	Observe func(ctx context.Context, x Exchange)
	// Trace, if set, is told when events arrive in informers and what controllers make
	// of them, and requests say on whose account they are sent.
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
	noCBOR atomic.Bool // the server has refused a body in CBOR
	disco  discovery

	resources sync.Map // reflect.Type -> Resource[T] that For made
}

// New returns a client for the server that cfg describes. It sends nothing yet. The
// transport, TLS and credentials are those of rest.TransportFor; cfg.Transport may be
// any http.RoundTripper, also one that reaches a handler in memory, and then cfg.Host
// may be empty. cfg.Timeout bounds every request but watches; cfg.QPS and cfg.Burst
// are not looked at, cfg.RateLimiter is.
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
	c := &Client{scheme: o.Scheme, rest: r, form: prefer, trace: o.Trace}
	c.disco.init(r)
	return c, nil
}

// As returns a client on the same connections that acts as another user, which the
// server allows to who may impersonate that one. It begins with empty discovery.
func (c *Client) As(user string) *Client {
	r := *c.rest
	of := *r.http
	of.Transport = transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: user}, of.Transport)
	r.http = &of
	as := &Client{scheme: c.scheme, rest: &r, form: c.form, trace: c.trace}
	as.disco.init(&r)
	return as
}

// Scheme returns the scheme that tells kinds and Go types apart.
func (c *Client) Scheme() *runtime.Scheme { return c.scheme }

// Trace is what the client was given to tell the lives of events to; nil if nothing.
func (c *Client) Trace() *trace.Log { return c.trace }

// REST returns the layer of plain requests.
func (c *Client) REST() *REST { return c.rest }
