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

// remote is another server, as configured by an API service.
type remote struct {
	name      string
	spec      apiregistrationv1.APIServiceSpec
	transport *http.Transport
	invalid   error // the reason why there is no transport

	// Guarded by Services.mu: its last known resources, and whether they are from the latest discovery.
	resources []apidiscoveryv2.APIResourceDiscovery
	fresh     bool
	// The last known OpenAPI documents.
	documents openapi.Remote

	seen    chan struct{} // of one slot: rung when it has responded to a check
	read    chan struct{} // closed when its OpenAPI documents have been requested once
	readTag string        // the ETag of documents.V2; belongs to the goroutine that reads
}

func (r *remote) gv() schema.GroupVersion {
	return schema.GroupVersion{Group: r.spec.Group, Version: r.spec.Version}
}

// port is the service's port.
func (r *remote) port() int32 { return ptr.Deref(r.spec.Service.Port, 443) }

// newRemote sets up the transport, which verifies the server as SERVICE.NAMESPACE.svc.
func (s *Services) newRemote(k *known) *remote {
	r := &remote{name: k.name, spec: k.spec, seen: make(chan struct{}, 1), read: make(chan struct{})}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: k.spec.InsecureSkipTLSVerify, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.o.Certificate() },
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

// route brings the remotes up to date with the known API services. s.mu is held.
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
				r.resources, r.documents = was.resources, was.documents // until the next discovery
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
		s.publishOpenAPI()
	}
}

// Serving implements server.Others. If a version is not known to be served, locally or by an available server, the
// store is read again first. A client that has seen the API service available thus finds the version served,
// whichever server of the cluster wrote the condition.
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

// settled reports whether all API services in the watch cache are known.
func (s *Services) settled() bool {
	changed, err := s.o.Server.Cache(Resource).Changed(context.Background(), watchcache.ReadAt{Match: watchcache.Any})
	return err != nil || s.at.Load() >= int64(changed)
}

// Written must be called after each write of an API service; see server.Config.Written.
func (s *Services) Written(ctx context.Context, at storage.Revision) {
	if s.at.Load() >= int64(at) {
		return
	}
	if err := s.sync(context.WithoutCancel(ctx)); err != nil {
		s.o.Log.Error("API services have not taken effect", "error", err)
	}
}
