package server

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/health"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/spans"
	"fairlead.dev/internal/server/watch"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Server is an API server; see the package comment.
type Server struct {
	cfg      Config
	log      *slog.Logger
	shards   *endpoint.Shards
	registry *endpoint.Registry
	env      *call.Environment
	metrics  *metrics.Metrics
	inflight *inflight.Limits
	// guard is nil without a limit on memory.
	guard *pressure.Guard
	spans *spans.Recorder // nil if requests are not recorded
	// fairness is nil if requests are only counted against inflight's limits.
	fairness *fairness.Dispatcher
	sizes    sizes
	streams  *watch.Streams
	decoded  decoded
	network  *reach.Network
	// describers are those that the server itself has made; Set tells them first.
	describers []Describer
	stopping   atomic.Bool

	watches *read.Watches
	writer  *write.Writer
	health  *health.Checks
	pages   *health.Pages

	// reviews answer creates of kinds that are never stored; creates answer those of
	// subresources.
	reviews map[schema.GroupResource]call.Verb
	creates map[Subresource]call.Verb

	// resources answers authorized requests for resources: serveResource, perhaps decorated.
	// decorate decorates a verb.
	resources call.Verb
	decorate  func(call.Verb) call.Verb
}

// BeginShutdown makes /readyz fail, so that load balancers choose other servers. All requests are still answered.
func (s *Server) BeginShutdown() { s.stopping.Store(true) }

// DrainWatches ends the open watches one after another, evenly over a period, and returns when all have been told to end.
func (s *Server) DrainWatches(period time.Duration) { s.streams.Drain(period) }

// Run drives the watch caches until ctx ends; then it ends all watches.
func (s *Server) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.stopping.Store(true) })()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.streams.Watchdog(ctx)
	}()
	err := s.shards.Run(ctx)
	<-done
	return err
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

// Contents returns what the watch caches hold at a revision, except below prefixes of keys.
func (s *Server) Contents(ctx context.Context, at storage.Revision, without []string) *watchcache.Contents {
	caches := maps.Clone(s.registry.Table().Caches)
	maps.DeleteFunc(caches, func(own string, _ *watchcache.Cache) bool {
		return slices.ContainsFunc(without, func(prefix string) bool { return strings.HasPrefix(own, prefix) || strings.HasPrefix(prefix, own) })
	})
	return s.shards.All[0].Hub.ContentsOf(ctx, at, caches)
}

// holds reports whether the endpoint's cache is still the one of its resource.
func (s *Server) holds(ep *endpoint.Endpoint) bool {
	return s.registry.Table().Caches[ep.StoragePrefix+"/"] == ep.Cache
}
