package server

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// servePath answers requests that are for no resource.
func (c *call) servePath() error {
	path := c.req.URL.Path
	if h := c.s.cfg.Paths[path]; h != nil {
		h.ServeHTTP(c.w, c.req)
		return nil
	}
	switch {
	case path == "/version" || path == "/version/":
		return c.writeJSON(http.StatusOK, c.s.cfg.Version)
	case path == "/metrics":
		promhttp.HandlerFor(c.s.cfg.Metrics, promhttp.HandlerOpts{}).ServeHTTP(c.w, c.req)
		return nil
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
	case (path == "/api" || path == "/apis" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")) && c.s.cfg.Discovery != nil:
		c.s.cfg.Discovery.ServeHTTP(c.w, c.req)
		return nil
	}
	return errNotFoundPath
}
