package aggregate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"reflect"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// remote is another server, as an API service names it.
type remote struct {
	name      string
	spec      apiregistrationv1.APIServiceSpec
	transport *http.Transport
	invalid   error // why there is no transport

	// Guarded by Services.mu: what it serves, as far as is known, and whether that is of
	// the last time it was asked.
	resources []apidiscoveryv2.APIResourceDiscovery
	fresh     bool
	// What it says of itself besides, as far as is known.
	words openapi.Remote

	seen    chan struct{} // of one slot: rung when it has been seen to answer
	read    chan struct{} // closed when its words have been asked for once
	readTag string        // of what words.V2 is, in its own words; of the goroutine that reads
}

func (r *remote) gv() schema.GroupVersion {
	return schema.GroupVersion{Group: r.spec.Group, Version: r.spec.Version}
}

// port is that of the service.
func (r *remote) port() int32 { return ptr.Deref(r.spec.Service.Port, 443) }

// newRemote makes the connection to be, which knows the server by the name of its
// service.
func (s *Services) newRemote(k *known) *remote {
	r := &remote{name: k.name, spec: k.spec, seen: make(chan struct{}, 1), read: make(chan struct{})}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: k.spec.InsecureSkipTLSVerify, Certificates: []tls.Certificate{s.o.Certificate},
		ServerName: k.spec.Service.Name + "." + k.spec.Service.Namespace + ".svc",
		NextProtos: []string{"h2", "http/1.1"},
	}
	if len(k.spec.CABundle) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(k.spec.CABundle) {
			r.invalid = errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	r.transport = s.o.Server.Network().Transport(config)
	r.transport.ForceAttemptHTTP2 = true
	return r
}

// address finds an endpoint of the remote's service.
func (s *Services) address(ctx context.Context, r *remote) (string, error) {
	if r.invalid != nil {
		return "", r.invalid
	}
	return s.o.Server.Network().Service(ctx, r.spec.Service.Namespace, r.spec.Service.Name, r.port())
}

// route brings the remotes to what is known, with the lock held.
func (s *Services) route() {
	routes, changed := map[schema.GroupVersion]*server.Elsewhere{}, false
	for name, k := range s.mu.known {
		if k.spec.Service == nil {
			continue
		}
		r := s.mu.remotes[name]
		if r == nil || !reflect.DeepEqual(r.spec, k.spec) {
			was := r
			r, changed = s.newRemote(k), true
			if was != nil {
				was.transport.CloseIdleConnections()
				r.resources, r.words = was.resources, was.words // until it has said otherwise
			}
			s.mu.remotes[name] = r
		}
		routes[r.gv()] = &server.Elsewhere{
			Available: k.available, Transport: r.transport,
			Address: func(ctx context.Context) (string, error) { return s.address(ctx, r) },
		}
	}
	for name, r := range s.mu.remotes {
		if k := s.mu.known[name]; k == nil || k.spec.Service == nil {
			r.transport.CloseIdleConnections()
			delete(s.mu.remotes, name)
			changed = true
		}
	}
	if len(routes) == 0 {
		s.routes.Store(nil)
	} else {
		s.routes.Store(&routes)
	}
	if changed {
		s.list()
		s.quote()
	}
}

// Serving implements server.Others. What is not known to be served, here or by a server
// that is available, is looked at again: who has seen in the store that it is finds it so
// here, whichever server of the cluster has said so.
func (s *Services) Serving(gv schema.GroupVersion) *server.Elsewhere {
	to := s.routed(gv)
	if to != nil && to.Available || to == nil && s.own[gv] || s.settled() || s.sync(context.Background()) != nil {
		return to
	}
	return s.routed(gv)
}

func (s *Services) routed(gv schema.GroupVersion) *server.Elsewhere {
	if routes := s.routes.Load(); routes != nil {
		return (*routes)[gv]
	}
	return nil
}

// Describing implements server.Others.
func (s *Services) Describing(path string) *server.Elsewhere {
	if s.routes.Load() == nil {
		return nil
	}
	gv, ok := s.o.OpenAPI.Elsewhere(path)
	if !ok {
		return nil
	}
	return s.Serving(gv)
}

// settled says that what the watch cache holds of API services is known.
func (s *Services) settled() bool {
	changed, err := s.o.Server.Cache(Resource).Changed(context.Background(), watchcache.ReadAt{Match: watchcache.Any})
	return err != nil || s.at.Load() >= int64(changed)
}

// Written is to be called after each write of an API service; see server.Config.Written.
func (s *Services) Written(ctx context.Context, at storage.Revision) {
	if s.at.Load() >= int64(at) {
		return
	}
	if err := s.sync(context.WithoutCancel(ctx)); err != nil {
		s.o.Log.Error("API services have not taken effect", "error", err)
	}
}
