package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/memory"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/watchcache"
)

// Server is an API server; see the package comment.
type Server struct {
	cfg        Config
	log        *slog.Logger
	hub        *watchcache.Hub
	table      atomic.Pointer[endpoint.Table]
	metrics    *metrics.Metrics
	plugins    *admission.Timer
	offer      request.Negotiator
	inflight   *inflight.Limits
	streams    *watch.Streams
	decoded    decoded
	network    *reach.Network
	events     lifetime
	merges     merges
	writeCache writeCache
	// health are the checks of /livez, /readyz and /healthz; stopping is set once the
	// server is told to end.
	health   []Check
	slis     metrics.SLIs
	stopping atomic.Bool
}

// New loads the store's objects into the watch caches and returns a server
// that can serve at once.
func New(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
		cfg.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	setDefault(&cfg.WatchTimeout, 30*time.Minute)
	setDefault(&cfg.WriteTimeout, 30*time.Second)
	setDefault(&cfg.BookmarkEvery, time.Minute)
	setDefault(&cfg.EventTTL, time.Hour)
	setDefault(&cfg.RequestTimeout, time.Minute)

	cfg.History.Trace, cfg.History.Log = cfg.Trace, cfg.Log
	hub, err := watchcache.NewHub(cfg.Store, cfg.History)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, hub: hub,
		metrics:  metrics.New(cfg.Metrics),
		offer:    request.NewNegotiator(cfg.CBOR),
		inflight: inflight.New(cfg.MaxReads, cfg.MaxWrites, cfg.MaxBodyBytes),
	}
	s.streams = watch.NewStreams(watch.Config{Log: cfg.Log, Holds: s.holds, WriteTimeout: cfg.WriteTimeout, BookmarkEvery: cfg.BookmarkEvery})
	s.network = reach.New(s.Lookup(), cfg.Local)
	s.events.ttl = cfg.EventTTL
	cfg.Metrics.MustRegister(metrics.CacheMetrics{Hub: hub, Stored: func() map[schema.GroupResource]*endpoint.Endpoint { return s.table.Load().Stored }})
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
	s.streams.Definitions, s.streams.Trace, s.streams.Faults = s.cfg.Definitions, s.cfg.Trace, s.cfg.Faults
	if f := s.cfg.Faults; f != nil {
		f.Serve(breaker{s})
	}
	if s.cfg.Authenticator == nil {
		s.cfg.Authenticator = auth.WithAnonymous(auth.InProcess())
	}
	if s.cfg.Authorizer == nil {
		s.cfg.Authorizer = auth.AllowAll
	}
	s.health, s.slis = s.newHealth(), metrics.NewSLIs()
	s.plugins = admission.NewTimer(s.cfg.Admission)
	s.cfg.Metrics.MustRegister(s.plugins)
	return s, nil
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
	before := s.table.Load()
	now := endpoint.NewTable(s.hub, resources, before)
	s.table.Store(now)
	s.merges.keep(resources)
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
func (s *Server) Resources() []*resource.Resource { return s.table.Load().Rows }

// Lookup reads the server's objects.
func (s *Server) Lookup() auth.Lookup { return lookup{s} }

// Network connects to everything that the server calls.
func (s *Server) Network() *reach.Network { return s.network }

// Cache is the watch cache of a resource, nil if it is not served or not stored.
func (s *Server) Cache(gr schema.GroupResource) *watchcache.Cache {
	if ep := s.table.Load().Stored[gr]; ep != nil {
		return ep.Cache
	}
	return nil
}

// holds reports whether the endpoint's cache is still the one of its resource.
func (s *Server) holds(ep *endpoint.Endpoint) bool {
	return s.table.Load().Caches[ep.StoragePrefix+"/"] == ep.Cache
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d == 0 {
		*d = to
	}
}

// Transport is the wire in memory: a RoundTripper that calls the server's handler for requests
// of the user. With a nil user the request's own credentials count.
//
// A watch or a list is served on a goroutine of its own, which waits when the reader is a
// buffer behind; it ends when the body is closed or the request's context is. Every other
// request is served before RoundTrip returns.
func Transport(s *Server, user *auth.User) http.RoundTripper { return memory.New(s, user) }
