package server

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// servePath answers requests for paths that are no resources.
func (c *call) servePath() error {
	path := c.req.URL.Path
	if h := c.s.cfg.Paths[path]; h != nil {
		h.ServeHTTP(c.w, c.req.WithContext(auth.WithUser(c.req.Context(), c.user)))
		return nil
	}
	switch {
	case path == "/version" || path == "/version/":
		if err := c.onlyJSON(); err != nil {
			return err
		}
		return c.writeJSON(http.StatusOK, c.s.cfg.Version)
	case strings.HasPrefix(path, "/version/"):
		return apistatus.ResourceNotFound()
	case path == "/metrics":
		promhttp.HandlerFor(c.s.cfg.Metrics, promhttp.HandlerOpts{}).ServeHTTP(c.w, c.req)
		return nil
	case path == "/metrics/slis":
		c.s.slis.Handler.ServeHTTP(c.w, c.req)
		return nil
	case path == statuszPath:
		return c.statusz()
	case path == flagzPath && c.s.cfg.Flags != nil:
		return c.flagz()
	case path == LivesPath:
		return c.lives()
	case path == FaultsPath || strings.HasPrefix(path, FaultsPath+"/"):
		return c.faults(strings.TrimPrefix(path[len(FaultsPath):], "/"))
	case path == WatchersPath:
		return c.watchers()
	case path == profiles:
		http.Redirect(c.w, c.req, profiles+"/", http.StatusMovedPermanently)
		return nil
	case strings.HasPrefix(path, profiles+"/"):
		profile(c.w, c.req)
		return nil
	case isHealth(path):
		return c.health(path)
	case strings.HasPrefix(path, "/openapi/") && c.s.cfg.OpenAPI != nil:
		c.s.cfg.OpenAPI.ServeHTTP(c.w, c.req)
		return nil
	case path == "/":
		return c.writeJSON(http.StatusOK, map[string][]string{"paths": c.rootPaths()})
	case c.noSuchVersion(path):
		return apistatus.ResourceNotFound()
	case (path == "/api" || path == "/apis" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")) && c.s.cfg.Discovery != nil:
		if request.IsPretty(c.req) {
			return c.indented(c.s.cfg.Discovery)
		}
		c.s.cfg.Discovery.ServeHTTP(c.w, c.req)
		return nil
	}
	return apistatus.ErrPathNotFound
}

// onlyJSON refuses methods and media types for a document that is served as JSON only.
func (c *call) onlyJSON() error {
	if c.req.Method != http.MethodGet {
		return apistatus.MethodNotAllowed()
	}
	only := request.Negotiator{serializer.JSON.String()}
	if header := c.req.Header.Get("Accept"); header != "" && !only.Serves(header, false) {
		return only.NotServed(false)
	}
	return nil
}

// noSuchVersion reports whether the path names a version that a built-in group does not have.
func (c *call) noSuchVersion(path string) bool {
	t, parts := c.s.table.Load(), request.SplitPath(path)
	switch {
	case len(parts) == 2 && parts[0] == "api":
		return t.Builtin[""] && !t.Groups[schema.GroupVersion{Version: parts[1]}]
	case len(parts) == 3 && parts[0] == "apis":
		return t.Builtin[parts[1]] && !t.Groups[schema.GroupVersion{Group: parts[1], Version: parts[2]}]
	}
	return false
}
