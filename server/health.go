package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func isHealth(path string) bool {
	for _, kind := range []string{"/healthz", "/livez", "/readyz"} {
		if path == kind || strings.HasPrefix(path, kind+"/") {
			return true
		}
	}
	return false
}

// health answers /healthz, /livez and /readyz, in whole or one check of it.
func (c *call) health(path string) error {
	kind, one, single := strings.Cut(path[1:], "/")
	checks := c.s.checks(kind)
	if single {
		check, ok := checks[one]
		if !ok {
			return errNotFoundPath
		}
		if err := check(); err != nil {
			return apierrors.NewInternalError(err)
		}
		return c.writeBytes(http.StatusOK, textType, []byte("ok"))
	}
	names := make([]string, 0, len(checks))
	for name := range checks {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	failed := false
	for _, name := range names {
		switch {
		case slices.Contains(c.query["exclude"], name):
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", name)
		case checks[name]() != nil:
			failed = true
			fmt.Fprintf(&text, "[-]%s failed: reason withheld\n", name)
		default:
			fmt.Fprintf(&text, "[+]%s ok\n", name)
		}
	}
	_, verbose := c.query["verbose"]
	switch {
	case failed:
		return c.writeText(http.StatusInternalServerError, text.String()+kind+" check failed\n")
	case verbose:
		return c.writeText(http.StatusOK, text.String()+kind+" check passed\n")
	}
	return c.writeText(http.StatusOK, "ok")
}

// checks are those of one kind of health.
func (s *Server) checks(kind string) map[string]func() error {
	all := map[string]func() error{"ping": func() error { return nil }}
	if kind != "livez" {
		for name, check := range s.cfg.Ready {
			all[name] = check
		}
	}
	return all
}

func (c *call) writeText(code int, text string) error {
	c.w.Header().Set("X-Content-Type-Options", "nosniff")
	return c.writeBytes(code, textType, []byte(text))
}

const textType = "text/plain; charset=utf-8"

func (c *call) writeJSON(code int, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return c.writeBytes(code, "application/json", data)
}

// rootPaths are the paths the server tells of at its root.
func (c *call) rootPaths() []string {
	list := []string{"/api", "/api/v1", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}
	for gv := range c.s.table.Load().groups {
		if gv.Group != "" {
			list = append(list, "/apis/"+gv.Group, "/apis/"+gv.String())
		}
	}
	for path := range c.s.cfg.Paths {
		list = append(list, path)
	}
	sort.Strings(list)
	return slices.Compact(list)
}
