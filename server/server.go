package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/health"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/inject"
	"fairlead.dev/internal/server/memory"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/subresource"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/internal/server/writetrace"
	"fairlead.dev/watchcache"
)

// Server is an API server; see the package comment.
type Server struct {
	cfg      Config
	log      *slog.Logger
	hub      *watchcache.Hub
	registry *endpoint.Registry
	env      *call.Environment
	metrics  *metrics.Metrics
	inflight *inflight.Limits
	streams  *watch.Streams
	decoded  decoded
	network  *reach.Network
	stopping atomic.Bool

	watches *read.Watches
	writer  *write.Writer
	pods    *subresource.Pods
	health  *health.Checks
	pages   *health.Pages

	// resources answers authorized requests for resources: serveResource, perhaps decorated.
	// decorate decorates a verb.
	resources call.Verb
	decorate  func(call.Verb) call.Verb
}

// New loads the store's objects into the watch caches and returns a server
// that can serve at once.
func New(cfg Config) (*Server, error) {
	setDefaults(&cfg)
	cfg.History.Trace, cfg.History.Log = cfg.Trace, cfg.Log
	hub, err := watchcache.NewHub(cfg.Store, cfg.History)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, hub: hub, registry: &endpoint.Registry{},
		metrics:  metrics.New(cfg.Metrics),
		inflight: inflight.New(cfg.MaxReads, cfg.MaxWrites, cfg.MaxBodyBytes),
	}
	s.env = &call.Environment{Log: cfg.Log, Negotiator: request.NewNegotiator(cfg.CBOR), Registry: s.registry}
	s.writer = &write.Writer{Config: write.Config{
		Environment: s.env, Store: cfg.Store, Committer: write.StoreCommitter{Store: cfg.Store}, CBOR: cfg.CBOR, EventTTL: cfg.EventTTL,
	}}
	s.pods = &subresource.Pods{Writer: s.writer, Objects: s.Lookup()}
	s.streams = watch.NewStreams(watch.Config{Log: cfg.Log, Holds: s.holds, WriteTimeout: cfg.WriteTimeout, BookmarkEvery: cfg.BookmarkEvery})
	s.watches = &read.Watches{Streams: s.streams, Metrics: s.metrics, Compacted: cfg.Store.Compacted, Timeout: cfg.WatchTimeout}
	s.network = reach.New(s.Lookup(), cfg.Local)
	cfg.Metrics.MustRegister(metrics.CacheMetrics{Hub: hub, Stored: func() map[schema.GroupResource]*endpoint.Endpoint { return s.registry.Table().Stored }})
	if cfg.Trace != nil {
		cfg.Metrics.MustRegister(metrics.NewLifeMetrics(cfg.Trace))
	}
	s.inflight.Register(cfg.Metrics)
	s.Set(cfg.Resources)
	if cfg.Wire != nil {
		if err := cfg.Wire(&s.cfg, s); err != nil {
			return nil, err
		}
	}
	s.assemble()
	return s, nil
}

// assemble sets up the parts that depend on members which Config.Wire may set.
func (s *Server) assemble() {
	cfg := &s.cfg
	if cfg.Authenticator == nil {
		cfg.Authenticator = auth.WithAnonymous(auth.InProcess())
	}
	if cfg.Authorizer == nil {
		cfg.Authorizer = auth.AllowAll
	}
	s.env.Authorizer = cfg.Authorizer
	s.registry.Definitions = cfg.Definitions
	s.streams.Definitions, s.streams.Trace, s.streams.Faults = cfg.Definitions, cfg.Trace, cfg.Faults
	checks := health.Config{Store: cfg.Store, Writable: cfg.Writable, Caches: s.hub.Err, Stopping: s.stopping.Load}
	for _, check := range cfg.Health {
		checks.More = append(checks.More, health.Check(check))
	}
	s.health = health.New(checks)
	s.pages = &health.Pages{Version: cfg.Version, Flags: cfg.Flags}

	plugins := admission.NewTimer(cfg.Admission)
	cfg.Metrics.MustRegister(plugins)
	s.writer.Admission = metrics.TimedChain{Chain: cfg.Admission, AdmissionSteps: s.metrics.AdmissionSteps, Timer: plugins}
	s.writer.Written = cfg.Written
	s.resources, s.decorate = s.serveResource, func(do call.Verb) call.Verb { return do }
	if cfg.Faults != nil {
		cfg.Faults.Serve(&inject.Breaker{Store: cfg.Store, Streams: s.streams, Objects: s.Lookup(), Trace: cfg.Trace})
		faults := &inject.Injector{Set: cfg.Faults}
		s.writer.Admission = faults.Admission(s.writer.Admission)
		s.resources, s.decorate = faults.Handler(s.resources), faults.Verb
	}
	if cfg.Trace != nil {
		t := &writetrace.Tracer{Log: cfg.Trace}
		s.writer.Admission = t.Admission(s.writer.Admission)
		s.writer.Committer = t.Committer(s.writer.Committer)
		s.resources = t.Handler(s.resources)
	}
}

// Run drives the watch caches until ctx ends; then it ends all watches.
func (s *Server) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.stopping.Store(true) })()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.streams.Watchdog(ctx)
	}()
	err := s.hub.Run(ctx)
	<-done
	return err
}

// Set replaces the resources that are served. Resources that stay keep their watch cache, and
// running requests end as they began. The describers are told after the new resources are
// served and before the watches of removed ones end: a client that sees a kind described can
// use it, and one that sees its watch end no longer finds it described.
func (s *Server) Set(resources []*resource.Resource, describers ...Describer) {
	before := s.registry.Table()
	now := endpoint.NewTable(s.hub, resources, before)
	s.registry.Replace(now)
	s.writer.Keep(resources)
	for _, d := range describers {
		d.Set(resources)
	}
	before.End(s.hub, now)
	s.streams.WakeRetired()
}

// A Describer describes the served resources to clients, as discovery and OpenAPI do.
type Describer interface {
	Set(resources []*resource.Resource)
}

// Resources returns the resources that are served now. They are shared.
func (s *Server) Resources() []*resource.Resource { return s.registry.Table().Rows }

// Lookup reads the server's objects.
func (s *Server) Lookup() auth.Lookup { return lookup{s} }

// Network connects to everything that the server calls.
func (s *Server) Network() *reach.Network { return s.network }

// Cache is the watch cache of a resource, nil if it is not served or not stored.
func (s *Server) Cache(gr schema.GroupResource) *watchcache.Cache {
	if ep := s.registry.Stored(gr); ep != nil {
		return ep.Cache
	}
	return nil
}

// holds reports whether the endpoint's cache is still the one of its resource.
func (s *Server) holds(ep *endpoint.Endpoint) bool {
	return s.registry.Table().Caches[ep.StoragePrefix+"/"] == ep.Cache
}

// Transport is the wire in memory: a RoundTripper that calls the server's handler for requests
// of the user. With a nil user the request's own credentials count.
//
// A watch or a list is served on a goroutine of its own, which waits when the reader is a
// buffer behind; it ends when the body is closed or the request's context is. Every other
// request is served before RoundTrip returns.
func Transport(s *Server, user *auth.User) http.RoundTripper { return memory.New(s, user) }
