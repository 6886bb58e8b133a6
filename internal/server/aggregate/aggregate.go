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

// Resource names the resource that API services are.
var Resource = schema.GroupResource{Group: apiregistrationv1.GroupName, Resource: "apiservices"}

// Options are what Services work on.
type Options struct {
	Server *server.Server
	// Builtin are the resources that are served anyway.
	Builtin []*resource.Resource
	// Settle puts into effect all definitions that are stored by now; see
	// server.Definitions.
	Settle func(ctx context.Context) error
	// Discovery is told of what other servers serve.
	Discovery *discovery.Handler
	// OpenAPI is told of what they say of that.
	OpenAPI *openapi.Handler
	// Certificate is shown to other servers, who believe by it for whom requests are.
	Certificate tls.Certificate
	// Trust tells them whom to believe; it is kept as it is here.
	Trust *corev1.ConfigMap
	Log   *slog.Logger // nil logs nothing
}

// Services are the API services of a server; as a prometheus.Collector, how available they
// are.
type Services struct {
	o       Options
	builtin []schema.GroupVersion
	own     map[schema.GroupVersion]bool // builtin, and the one of API services
	// atStart are those that were there before the server, by name.
	atStart map[string]types.UID
	bell    chan struct{} // of one slot: rung when other custom kinds are served
	metrics metrics
	// routes are the versions that other servers serve, nil if there are none; at is the
	// revision up to which they are known.
	routes atomic.Pointer[map[schema.GroupVersion]*server.Elsewhere]
	at     atomic.Int64
	mu     struct {
		sync.Mutex
		known   map[string]*known  // by name
		remotes map[string]*remote // those of known that have a service
		custom  []schema.GroupVersion
		// unseen are the built-in versions that have not been seen available since the
		// start; gone are those whose API service was seen and is there no more.
		unseen, gone map[string]schema.GroupVersion // by name
	}
}

// known is what is to be known of a stored API service.
type known struct {
	from    storage.Revision
	name    string
	uid     types.UID
	managed string // apiregistration.OnStart or Always, "" if the server does not keep it
	spec    apiregistrationv1.APIServiceSpec
	// available is what its condition says, local that it says so of what is served here.
	available, local bool
}

// New knows the API services that are stored.
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

// sync takes in what is stored.
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
		k, err := read(o)
		if err != nil {
			return err
		}
		s.mu.known[k.name] = k
	}
	for name := range s.mu.known {
		if !there[name] && !snap.Unreadable("", name) { // which stays in effect as it was
			delete(s.mu.known, name)
		}
	}
	s.count()
	s.route()
	s.at.Store(int64(snap.Revision()))
	return nil
}

// every selects all API services but those whose values cannot be read.
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

// retryAfter is how long a failure is left alone.
const retryAfter = time.Second

// Run keeps API services until ctx ends.
func (s *Services) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("API services are watched again", "error", err)
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
	trust, err := s.o.Server.Cache(corev1.Resource("configmaps")).Watch(ctx, watchcache.Selection{Namespace: s.o.Trust.Namespace, Name: s.o.Trust.Name}, 0)
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
			return errors.New("the watch of API services is over")
		}
		if touched {
			if err := s.o.Server.Bootstrap(ctx, []runtime.Object{s.o.Trust.DeepCopy()}, bootstrap.Reconcile); err != nil {
				return err
			}
		}
	}
}
