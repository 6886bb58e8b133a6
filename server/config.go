package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/subresource"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// Config configures a server. Only Store is required. Without an Authenticator every
// request without a user of Transport's is anonymous; without an Authorizer every request is
// allowed.
type Config struct {
	Store storage.Store
	// Shards are the stores of resources that Store does not have. They exclude a Trace. Services and IPAddresses must be in
	// the same store.
	Shards []Shard
	// TrustCaches has a write of one object judged by the caches as they are, as kube-apiserver judges it by its informers, and the
	// stores asked only before it is refused. It is for stores over a network, in which a question is expensive.
	TrustCaches bool
	// Resources are the resources to serve; nil is all of Kubernetes.
	Resources []*resource.Resource

	// Authenticator is asked about requests other than those with a user of Transport's.
	Authenticator Authenticator
	Authorizer    Authorizer
	// Audit records the requests; nil does not.
	Audit *Auditor
	// Admission is asked before each write, in this order.
	Admission admission.Chain

	// Wire, if set, is called by New once objects can be looked up. It may set
	// the members below and above that need to look at objects.
	Wire func(c *Config, s *Server) error

	// Reviews answer creates of kinds that are never stored.
	Reviews map[schema.GroupResource]CreateFunc
	// Reads answer gets and lists of kinds that are never stored.
	Reads map[schema.GroupResource]ReadFunc
	// Subresources answer creates of subresources that the server does not
	// know itself, such as the token of a service account.
	Subresources map[Subresource]CreateFunc

	// Local, if set, leads to the nodes that are simulated in this process.
	Local reach.Local

	// Dial, if set, connects the server to webhooks, other API servers, nodes and pods in place of the machine's network.
	// Simulated addresses are Local's all the same.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Redirects has, for an address of a webhook or another API server (host and port), the address to dial in its place.
	Redirects map[string]string

	// Precondition, if set, is called for each authorized request, which is answered by its error.
	Precondition func(Attributes) error

	// Others, if set, are servers that this one passes requests on to.
	Others Others

	// Written is called after each write of an object of the resource, before
	// it is answered.
	Written map[schema.GroupResource]func(ctx context.Context, at storage.Revision)

	// Definitions, if set, keeps custom resources in step with their stored definitions.
	Definitions Definitions

	// Discovery serves /api, /apis and the paths below them that are no resources; OpenAPI
	// serves /openapi/. A nil one describes the resources that the server serves.
	Discovery, OpenAPI http.Handler
	// Paths are more handlers by exact path. They come after authorization, and get the user
	// by auth.UserFrom.
	Paths map[string]http.Handler

	// Health are checks besides the server's own, in the order in which they are shown.
	Health []Check
	// Writable returns why Store cannot be written, for the checks etcd and
	// etcd-readiness; nil is a store that can be written while it answers.
	Writable func() error
	// Flags are those that the process was started with, for /flagz, which nil ones leave
	// out. They must not be secret.
	Flags map[string]string
	// Debug serves the paths below /debug/, after authorization, such as profiles of the process; nil leaves them out.
	Debug http.Handler

	Version version.Info
	Log     *slog.Logger // nil discards it
	// Metrics is the registry the server's collectors go to; nil makes one. MoreMetrics, if set, are
	// served with them.
	Metrics     *prometheus.Registry
	MoreMetrics prometheus.Gatherer

	// History bounds the history of the watch caches.
	History watchcache.HubOptions
	// Stale, if set, reports whether the value of a key in a store is to be written again by an update
	// that changes nothing, because it is encrypted by a former key.
	Stale func(ctx context.Context, s storage.Store, key string) (bool, error)

	// Trace keeps the lives of events; nil is a server without a trace.
	Trace *trace.Log

	// TracerProvider gets a span of each request; nil records none.
	TracerProvider oteltrace.TracerProvider

	// Faults are injected faults; nil refuses them.
	Faults *faults.Set

	// Clock is the clock that ClockPath advances; nil refuses to.
	Clock Clock

	// CBOR serves CBOR, takes it, and applies it, as kube-apiserver does with its gate
	// CBORServingAndStorage. The store has JSON all the same.
	CBOR bool
	// NoWatchList refuses sendInitialEvents, as kube-apiserver does without its gate
	// WatchList: before Kubernetes 1.34.
	NoWatchList bool

	// NoGarbageCollection ignores what deletes ask for dependents, because no garbage collector runs.
	NoGarbageCollection bool

	// EventTTL is how long events are kept after their last change. 0 means an
	// hour, less than 0 for ever.
	EventTTL time.Duration

	// MaxReads and MaxWrites bound the requests that run at once, watches and others that
	// last by nature not counted; one more is told 429. A user other than those of
	// system:masters may have half of them. 0 means 400 and 200, less than 0 no bound.
	MaxReads, MaxWrites int
	// Fairness divides the sum of MaxReads and MaxWrites among priority levels, as kube-apiserver does with
	// --enable-priority-and-fairness: a request waits for its seats, up to a quarter of its time, before it is told 429. It
	// has no effect if neither has a bound.
	Fairness bool
	// Queued, if not nil, is called when a request begins to wait for its seats. It must be fast and safe for concurrent use.
	Queued func()
	// MaxBodyBytes bounds the memory, in bytes, of the bodies of all requests that run;
	// a request whose body would take more is told 429. A user other than those of
	// system:masters may have half of it. 0 means 128 MiB, less than 0 no bound.
	MaxBodyBytes int64
	// MemoryLimit is the memory in bytes that the process may take: large lists and bodies are refused by 429 before its live heap
	// reaches it, and small requests go on. All servers of the process with one limit share it. 0 means no limit.
	MemoryLimit int64
	// RequestTimeout is the time in which a request that does not last by nature must be
	// answered, else it is told 504; a list that has begun has as much time again to be
	// written. 0 means a minute; New refuses less than 0.
	RequestTimeout time.Duration

	// MaxConnectionBytesPerSec limits each direction of exec, attach, port-forward and proxied connections; 0 does not.
	MaxConnectionBytesPerSec int64

	// WatchTimeout is the least time a watch without timeoutSeconds runs; each
	// gets up to twice that, at random. 0 means 30 minutes.
	WatchTimeout time.Duration
	// WriteTimeout is how long a client may leave a written part of a stream
	// unread before it is dropped. 0 means 30 seconds.
	WriteTimeout time.Duration
	// BookmarkEvery is the time between a watch's bookmarks. 0 means a minute.
	BookmarkEvery time.Duration
}

// Check is one of the checks that /livez, /readyz and /healthz consist of. Each can be asked by
// itself too, as in /livez/etcd.
type Check struct {
	Name string
	// ReadyOnly leaves the check to /readyz.
	ReadyOnly bool
	// Of returns why the check fails. It must be quick: probes ask every second.
	Of func(ctx context.Context) error
}

// A Describer describes the served resources to clients, as discovery and OpenAPI do.
type Describer interface {
	Set(resources []*resource.Resource)
}

// Subresource names a subresource of a resource.
type Subresource struct {
	schema.GroupResource
	Name string
}

// CreateFunc answers a create with an object of the same kind, or another that
// has its kind set.
type CreateFunc func(ctx context.Context, r *CreateRequest) (runtime.Object, error)

// CreateRequest is a create whose object is not stored as it is.
type CreateRequest struct {
	// User is never nil.
	User *User
	// Namespace and Name are those of the path; for a review without a
	// namespace both are empty.
	Namespace, Name string
	// Object is the decoded body, of the version of the path.
	Object runtime.Object
	// Parent is the object the subresource belongs to, nil for a review.
	Parent runtime.Object
	DryRun bool
	// Warn adds a Warning header to the response.
	Warn func(text string)
}

func (f CreateFunc) answer(ctx context.Context, r *subresource.CreateRequest) (runtime.Object, error) {
	return f(ctx, (*CreateRequest)(r))
}

// ReadFunc returns the objects of a resource that is not stored: those of a namespace, of all
// namespaces if it is empty, or the one of a name. Each call makes new objects.
type ReadFunc func(ctx context.Context, namespace, name string) ([]runtime.Object, error)
