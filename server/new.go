package server

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/health"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/inject"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/spans"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/internal/server/writetrace"
)

// New loads the store's objects into the watch caches and returns a server
// that can serve at once.
func New(cfg Config) (*Server, error) {
	if cfg.RequestTimeout < 0 {
		return nil, fmt.Errorf("Config.RequestTimeout is %v: want 0 (for a minute) or more", cfg.RequestTimeout)
	}
	setDefaults(&cfg)
	cfg.History.Trace, cfg.History.Log = cfg.Trace, cfg.Log
	requests := &metrics.StoreRequests{}
	cfg.Metrics.MustRegister(requests)
	cfg.History.Reads = requests.Reads
	shards, err := newShards(&cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, shards: shards, registry: &endpoint.Registry{},
		metrics:  metrics.New(cfg.Metrics),
		inflight: inflight.New(cfg.MaxReads, cfg.MaxWrites, cfg.MaxBodyBytes),
		guard:    pressure.OfProcess(cfg.MemoryLimit),
	}
	if cfg.TracerProvider != nil {
		s.spans = spans.New(cfg.TracerProvider)
	}
	if seats := inflight.Seats(cfg.MaxReads, cfg.MaxWrites); cfg.Fairness && seats > 0 {
		s.fairness = fairness.New(fairness.Options{Seats: seats, Objects: s.objects, Waiting: cfg.Queued})
		s.inflight = inflight.New(-1, -1, cfg.MaxBodyBytes) // which still counts
		cfg.Metrics.MustRegister(s.fairness)
	}
	s.env = &call.Environment{Log: cfg.Log, Negotiator: request.NewNegotiator(cfg.CBOR), NoWatchList: cfg.NoWatchList, Registry: s.registry, Objects: s.objects, Access: metrics.NewAccess()}
	cfg.Metrics.MustRegister(s.env.Access)
	s.writer = &write.Writer{Config: write.Config{
		NoGarbageCollection: cfg.NoGarbageCollection,
		Environment:         s.env, Committer: write.StoreCommitter{Requests: requests}, CBOR: cfg.CBOR, EventTTL: cfg.EventTTL, Stale: cfg.Stale,
	}}
	s.streams = watch.NewStreams(watch.Config{Log: cfg.Log, Holds: s.holds, WriteTimeout: cfg.WriteTimeout, BookmarkEvery: cfg.BookmarkEvery})
	s.watches = &read.Watches{Streams: s.streams, Metrics: s.metrics, Timeout: cfg.WatchTimeout}
	s.network = reach.New(s.Lookup(), cfg.Local, cfg.Dial)
	s.network.Redirects = cfg.Redirects
	cfg.Metrics.MustRegister(metrics.CacheMetrics{Shards: shards, Stored: func() map[schema.GroupResource]*endpoint.Endpoint { return s.registry.Table().Stored }})
	if cfg.Trace != nil {
		cfg.Metrics.MustRegister(metrics.NewLifeMetrics(cfg.Trace), metrics.NewQueueMetrics(cfg.Trace))
	}
	cfg.Metrics.MustRegister(metrics.BuildInfo(cfg.Version))
	s.inflight.Register(cfg.Metrics)
	s.guard.Register(cfg.Metrics)
	s.describe()
	s.Set(cfg.Resources)
	if cfg.Wire != nil {
		if err := cfg.Wire(&s.cfg, s); err != nil {
			return nil, err
		}
	}
	shards.All[0].Hub.Begun()
	s.cfg.Wire, s.cfg.History.Begin = nil, nil // which refer to it
	s.assemble()
	return s, nil
}

// describe makes the describers that the configuration leaves to the server.
func (s *Server) describe() {
	if s.cfg.Discovery == nil {
		d := discovery.New(s.cfg.Resources)
		s.cfg.Discovery, s.describers = d, append(s.describers, d)
	}
	if s.cfg.OpenAPI == nil {
		o := openapi.New(s.cfg.Resources, resource.Scheme())
		o.CBOR = s.cfg.CBOR
		s.cfg.OpenAPI, s.describers = o, append(s.describers, o)
	}
}

// assemble sets up the parts that depend on members which Config.Wire may set.
func (s *Server) assemble() {
	cfg := &s.cfg
	if cfg.Authenticator == nil {
		cfg.Authenticator = auth.WithAnonymous(auth.Union())
	}
	cfg.Authenticator = recheckUser(auth.Union(auth.InProcess(), cfg.Authenticator))
	if cfg.Authorizer == nil {
		cfg.Authorizer = auth.AllowAll
	}
	s.env.Authorizer = recheckDecision(cfg.Authorizer)
	s.registry.Definitions = cfg.Definitions
	s.streams.Definitions, s.streams.Trace, s.streams.Faults = cfg.Definitions, cfg.Trace, cfg.Faults
	checks := health.Config{Store: cfg.Store, Writable: cfg.Writable, Caches: s.shards.Err, Stopping: s.stopping.Load}
	for _, shard := range cfg.Shards {
		checks.Shards = append(checks.Shards, health.Shard{Store: shard.Store, Writable: shard.Writable})
	}
	for _, check := range cfg.Health {
		checks.More = append(checks.More, health.Check(check))
	}
	s.health = health.New(checks)
	s.pages = &health.Pages{Version: cfg.Version, Flags: cfg.Flags}

	plugins := admission.NewTimer(cfg.Admission)
	cfg.Metrics.MustRegister(plugins)
	s.writer.Admission = metrics.TimedChain{Chain: cfg.Admission, AdmissionSteps: s.metrics.AdmissionSteps, Timer: plugins}
	s.writer.Written = cfg.Written
	s.routeCreates()
	s.resources, s.decorate = s.serveResource, func(do call.Verb) call.Verb { return do }
	if cfg.Faults != nil {
		cfg.Faults.Serve(&inject.Breaker{Stores: s.shards.Stores(), Streams: s.streams, Objects: s.Lookup(), Trace: cfg.Trace})
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
