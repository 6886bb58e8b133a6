package aggregate

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Resource is the resource of API services.
var Resource = schema.GroupResource{Group: apiregistrationv1.GroupName, Resource: "apiservices"}

// Options configure Services.
type Options struct {
	Server *server.Server
	// Builtin are the built-in resources.
	Builtin []*resource.Resource
	// Settle puts all definitions stored so far into effect; see server.Definitions.
	Settle func(ctx context.Context) error
	// Discovery is passed the resources of other servers.
	Discovery *discovery.Handler
	// OpenAPI is passed the documents of other servers.
	OpenAPI *openapi.Handler
	// Certificate returns the front proxy's client certificate, when a server asks for it. Other servers trust its holder's
	// headers about the user of a request.
	Certificate func() (*tls.Certificate, error)
	// Trust returns the ConfigMap that tells other servers which certificates to trust. It is restored if it is changed.
	Trust func() *corev1.ConfigMap
	// Known are API services of another server whose store began like this one's: they are not read again.
	Known Known
	Log   *slog.Logger // nil discards
}

// Known are stored API services that several servers may know, by their name and revision.
type Known map[revised]*known

type revised struct {
	name string
	at   storage.Revision
}

// Known returns the API services as they are stored.
func (s *Services) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := Known{}
	for name, k := range s.mu.known {
		all[revised{name, k.from}] = k
	}
	return all
}

// Services manages the API services of a server. As a prometheus.Collector it reports their availability.
type Services struct {
	o       Options
	builtin []schema.GroupVersion
	own     map[schema.GroupVersion]bool // built-in versions, and the version of API services
	// atStart holds the API services older than the server, by name.
	atStart map[string]types.UID
	bell    chan struct{} // of one slot: rung when the custom kinds change
	metrics metrics
	// routes holds the versions of other servers, or nil. at is the revision up to which they are
	// known.
	routes atomic.Pointer[map[schema.GroupVersion]*server.Elsewhere]
	at     atomic.Int64
	mu     struct {
		sync.Mutex
		known   map[string]*known  // by name
		remotes map[string]*remote // those of known that have a service
		custom  []schema.GroupVersion
		// unseen holds the built-in versions that have not been seen available since the start; gone those whose
		// API service was seen and is now deleted.
		unseen, gone map[string]schema.GroupVersion // by name
	}
}

// known is a stored API service. It is not modified.
type known struct {
	from    storage.Revision
	name    string
	uid     types.UID
	managed string // apiregistration.OnStart or Always, "" if the server does not manage it
	spec    apiregistrationv1.APIServiceSpec
	// available is its Available condition; local is set if the condition's reason is Local.
	available, local bool
}

// New reads the stored API services.
func New(ctx context.Context, o Options) (*Services, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Services{o: o, builtin: versions(o.Builtin, false), bell: make(chan struct{}, 1), metrics: newMetrics(), atStart: map[string]types.UID{}}
	s.mu.known, s.mu.remotes = map[string]*known{}, map[string]*remote{}
	s.mu.unseen, s.mu.gone = map[string]schema.GroupVersion{}, map[string]schema.GroupVersion{}
	s.own = map[schema.GroupVersion]bool{apiregistrationv1.SchemeGroupVersion: true}
	for _, gv := range s.builtin {
		s.own[gv] = true
		s.mu.unseen[apiregistration.Name(gv)] = gv
	}
	if err := s.sync(ctx); err != nil {
		return nil, err
	}
	for name, k := range s.mu.known {
		s.atStart[name] = k.uid
	}
	return s, nil
}

// Set implements server.Describer.
func (s *Services) Set(resources []*resource.Resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.custom = versions(resources, true)
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// sync reads the stored API services.
func (s *Services) sync(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.o.Server.Cache(Resource).Snapshot(ctx, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	list, err := snap.List(every, "", 0)
	if err != nil {
		return err
	}
	for o := range list {
		there[o.Name()] = true
		if was := s.mu.known[o.Name()]; was != nil && was.from == o.Revision() {
			continue
		}
		k := s.o.Known[revised{o.Name(), o.Revision()}]
		if k == nil {
			if k, err = read(o); err != nil {
				return err
			}
		}
		s.mu.known[k.name] = k
	}
	for name := range s.mu.known {
		if !there[name] && !snap.Unreadable("", name) { // an unreadable one stays in effect as it was
			delete(s.mu.known, name)
		}
	}
	s.count()
	s.route()
	s.at.Store(int64(snap.Revision()))
	return nil
}

// every selects all API services except unreadable ones.
var every = watchcache.Selection{Readable: true}

func read(o *watchcache.Object) (*known, error) {
	var service apiregistrationv1.APIService
	if err := json.Unmarshal(o.Value(), &service); err != nil {
		return nil, fmt.Errorf("stored API service %s cannot be decoded: %w", o.Name(), err)
	}
	k := &known{from: o.Revision(), name: o.Name(), uid: service.UID, spec: service.Spec}
	if apiregistration.Managed(&service) {
		k.managed = service.Labels[apiregistration.ManagedLabel]
	}
	if c := apiregistration.Condition(&service); c != nil {
		k.available = c.Status == apiregistrationv1.ConditionTrue
		k.local = k.available && c.Reason == apiregistration.Local().Reason
	}
	return k, nil
}

// retryAfter is the pause after a failure.
const retryAfter = time.Second

// Run manages API services until ctx ends.
func (s *Services) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("watch of API services failed, retrying", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
	return nil
}

func (s *Services) follow(ctx context.Context) error {
	w, err := s.o.Server.Cache(Resource).Watch(ctx, every, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	published := s.o.Trust()
	trust, err := s.o.Server.Cache(corev1.Resource("configmaps")).Watch(ctx, watchcache.Selection{Namespace: published.Namespace, Name: published.Name}, 0)
	if err != nil {
		return err
	}
	defer trust.Close()
	all := checkers{}
	defer func() {
		for _, c := range all {
			c.end()
		}
	}()
	for {
		if err := s.sync(ctx); err != nil {
			return err
		}
		if err := s.keep(ctx); err != nil {
			return err
		}
		s.update(ctx, all)
		touched := false
		select {
		case <-ctx.Done():
			return nil
		case <-s.bell:
		case <-w.Bell():
		case <-trust.Bell():
			touched = true
		}
		if !drain(w) || !drain(trust) {
			return errors.New("the watch of API services has ended")
		}
		if touched {
			if err := s.o.Server.Bootstrap(ctx, []runtime.Object{s.o.Trust()}, bootstrap.Reconcile); err != nil {
				return err
			}
		}
	}
}
