package server

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	authproxy "k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream"

	"fairlead.dev/internal/server/connect"
	"fairlead.dev/internal/server/request"
)

// Others are the servers that this one passes requests on to. Both methods are called for
// each request, and return nil if this server answers it itself.
type Others interface {
	// Serving finds the server of a group's version.
	Serving(schema.GroupVersion) *Elsewhere
	// Describing finds the server that has the document of OpenAPI v3 at a path.
	Describing(path string) *Elsewhere
}

// Elsewhere is another server, which serves a version of a group in place of this one. Its
// requests name their user in headers, which it trusts because Transport presents a front
// proxy's certificate.
type Elsewhere struct {
	// Available reports that the server has answered lately.
	Available bool
	// Address finds where to dial it.
	Address   func(ctx context.Context) (string, error)
	Transport *http.Transport
}

// discoveryTimeout bounds the discovery of each peer, which clients do first.
const discoveryTimeout = 5 * time.Second

// findPeer returns the server that the request is to be passed on to, nil if it is this one.
func (c *serving) findPeer() *Elsewhere {
	others, in := c.s.cfg.Others, &c.Info
	if others == nil {
		return nil
	}
	if in.IsResource {
		return others.Serving(schema.GroupVersion{Group: in.Group, Version: in.Version})
	}
	switch parts := request.SplitPath(in.Path); {
	case len(parts) == 2 && parts[0] == "api":
		return others.Serving(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		return others.Serving(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	case len(parts) > 2 && parts[0] == "openapi" && parts[1] == "v3":
		return others.Describing(in.Path)
	}
	return nil
}

// proxyToPeer passes the request on, with its user in headers.
func (c *serving) proxyToPeer(to *Elsewhere) error {
	if !to.Available {
		http.Error(c.Writer, "service unavailable", http.StatusServiceUnavailable)
		return nil
	}
	address, err := to.Address(c.Context)
	if err != nil {
		c.Log.Warn("a server cannot be found", "path", c.Info.Path, "error", err)
		http.Error(c.Writer, "service unavailable", http.StatusServiceUnavailable)
		return nil
	}
	ctx := c.Context
	if !c.Info.IsResource && len(request.SplitPath(c.Info.Path)) == 3 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, discoveryTimeout)
		defer cancel()
	}
	req := c.HTTP.Clone(ctx)
	req.Header.Del("Authorization") // credentials and impersonation concern this server only
	for name := range req.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			req.Header.Del(name)
		}
	}
	authproxy.SetAuthProxyHeaders(req, c.User.Name, c.User.UID, c.User.Groups, c.User.Extra)
	location := &url.URL{Scheme: "https", Host: address, Path: req.URL.Path, RawPath: req.URL.RawPath, RawQuery: req.URL.RawQuery}
	if err := (connect.Forward{To: location, Transport: to.Transport, Wrapped: true, Upgraded: httpstream.IsUpgradeRequest(req)}).Serve(c.Writer, req); err != nil {
		http.Error(c.Writer, err.Error(), http.StatusServiceUnavailable)
	}
	return nil
}
