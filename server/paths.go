package server

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/componentmetrics"
	"fairlead.dev/internal/server/debugging"
	"fairlead.dev/internal/server/health"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// servePath answers requests for paths that are no resources.
func (c *serving) servePath() error {
	path := c.HTTP.URL.Path
	if h := c.s.cfg.Paths[path]; h != nil {
		h.ServeHTTP(c.Writer, c.HTTP.WithContext(auth.WithUser(c.HTTP.Context(), c.User)))
		return nil
	}
	switch {
	case path == "/version" || path == "/version/":
		if err := c.onlyJSON(); err != nil {
			return err
		}
		return c.WriteJSON(http.StatusOK, c.s.cfg.Version)
	case strings.HasPrefix(path, "/version/"):
		return apistatus.ResourceNotFound()
	case path == "/metrics":
		all := prometheus.Gatherers{c.s.cfg.Metrics}
		if c.s.cfg.Audit != nil {
			all = append(all, componentmetrics.Gatherer(audit.MetricPrefix))
		}
		if more := c.s.cfg.MoreMetrics; more != nil {
			all = append(all, more)
		}
		promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(c.Writer, c.HTTP)
		return nil
	case path == "/metrics/slis":
		c.s.health.SLIs().ServeHTTP(c.Writer, c.HTTP)
		return nil
	case path == health.StatuszPath:
		return c.s.pages.Statusz(&c.Call)
	case path == health.FlagzPath && c.s.cfg.Flags != nil:
		return c.s.pages.Flagz(&c.Call)
	case path == LivesPath:
		return c.lives()
	case path == FaultsPath || strings.HasPrefix(path, FaultsPath+"/"):
		return c.faults(strings.TrimPrefix(path[len(FaultsPath):], "/"))
	case path == ClockPath:
		return c.clock()
	case path == WatchersPath:
		return c.watchers()
	case strings.HasPrefix(path, dumps):
		return c.dump()
	case strings.HasPrefix(path, debugging.Prefix) && c.s.cfg.Debug != nil:
		c.s.cfg.Debug.ServeHTTP(c.Writer, c.HTTP)
		return nil
	case health.IsPath(path):
		return c.s.health.Serve(&c.Call, path)
	case strings.HasPrefix(path, "/openapi/"):
		c.s.cfg.OpenAPI.ServeHTTP(c.Writer, c.HTTP)
		return nil
	case path == "/":
		return c.WriteJSON(http.StatusOK, map[string][]string{"paths": c.rootPaths()})
	case c.noSuchVersion(path):
		return apistatus.ResourceNotFound()
	case path == "/api" || path == "/apis" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/"):
		c.AuditResponse()
		if request.IsPretty(c.HTTP) {
			return c.indented(c.s.cfg.Discovery)
		}
		c.s.cfg.Discovery.ServeHTTP(c.Writer, c.HTTP)
		return nil
	}
	return apistatus.ErrPathNotFound
}

// onlyJSON refuses methods and media types for a document that is served as JSON only.
func (c *serving) onlyJSON() error {
	if c.HTTP.Method != http.MethodGet {
		return apistatus.MethodNotAllowed()
	}
	only := request.Negotiator{serializer.JSON.String()}
	if header := c.HTTP.Header.Get("Accept"); header != "" && !only.Serves(header, false) {
		return only.NotServed(false)
	}
	return nil
}

// noSuchVersion reports whether the path names a version that a built-in group does not have.
func (c *serving) noSuchVersion(path string) bool {
	t, parts := c.Registry.Table(), request.SplitPath(path)
	switch {
	case len(parts) == 2 && parts[0] == "api":
		return t.Builtin[""] && !t.Groups[schema.GroupVersion{Version: parts[1]}]
	case len(parts) == 3 && parts[0] == "apis":
		return t.Builtin[parts[1]] && !t.Groups[schema.GroupVersion{Group: parts[1], Version: parts[2]}]
	}
	return false
}
