package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/internal/server/apistatus"
)

// Check is one of the checks that /livez, /readyz and /healthz consist of. Each can be
// asked by itself too, as in /livez/etcd.
type Check struct {
	Name string
	// ReadyOnly leaves the check to /readyz.
	ReadyOnly bool
	// Of returns why the check fails. It must be quick: probes ask every second.
	Of func(ctx context.Context) error
}

// storePatience is the time in which the store must return its revision, as in kube-apiserver;
// else the check etcd fails.
const storePatience = 2 * time.Second

// errStopping is the error of the check shutdown.
var errStopping = errors.New("process is shutting down")

// newHealth returns the checks in kube-apiserver's order: the server's own, then those of
// the configuration, then whether it is stopping.
func (s *Server) newHealth() []Check {
	store := func(ctx context.Context) error {
		if f := s.cfg.Writable; f != nil {
			if err := f(); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(ctx, storePatience)
		defer cancel()
		_, err := s.cfg.Store.Current(ctx)
		return err
	}
	nothing := func(context.Context) error { return nil }
	list := []Check{
		{Name: "ping", Of: nothing},
		{Name: "log", Of: nothing}, // lines are written at once: no writer could have stopped
		{Name: "etcd", Of: store},
		{Name: "etcd-readiness", ReadyOnly: true, Of: store},
		{Name: "informer-sync", ReadyOnly: true, Of: func(context.Context) error { return s.hub.Err() }},
	}
	list = append(list, s.cfg.Health...)
	return append(list, Check{Name: "shutdown", ReadyOnly: true, Of: func(context.Context) error {
		if s.stopping.Load() {
			return errStopping
		}
		return nil
	}})
}

func isHealth(path string) bool {
	for _, kind := range []string{"/healthz", "/livez", "/readyz"} {
		if path == kind || strings.HasPrefix(path, kind+"/") {
			return true
		}
	}
	return false
}

// health answers /healthz, /livez and /readyz, with all checks or a single one.
func (c *call) health(path string) error {
	kind, one, single := strings.Cut(path[1:], "/")
	if single {
		return c.checkOne(kind, one)
	}
	excluded := slices.Clone(c.query["exclude"])
	var text strings.Builder
	var failed []string
	for _, check := range c.s.health {
		if check.ReadyOnly && kind != "readyz" {
			continue
		}
		if slices.Contains(c.query["exclude"], check.Name) {
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == check.Name })
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", check.Name)
			continue
		}
		err := check.Of(c.ctx)
		c.s.slis.Observe(check.Name, kind, err)
		if err != nil {
			failed = append(failed, check.Name)
			c.s.log.Warn("health check failed", "check", check.Name, "of", kind, "error", err)
			fmt.Fprintf(&text, "[-]%s failed: reason withheld\n", check.Name)
			continue
		}
		fmt.Fprintf(&text, "[+]%s ok\n", check.Name)
	}
	if len(excluded) > 0 {
		slices.Sort(excluded)
		quoted := make([]string, 0, len(excluded))
		for _, name := range slices.Compact(excluded) {
			quoted = append(quoted, strconv.Quote(name))
		}
		fmt.Fprintf(&text, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(quoted, ","))
	}
	_, verbose := c.query["verbose"]
	switch {
	case len(failed) > 0:
		return c.writeText(http.StatusInternalServerError, text.String()+kind+" check failed\n")
	case verbose:
		return c.writeText(http.StatusOK, text.String()+kind+" check passed\n")
	}
	return c.writeText(http.StatusOK, "ok")
}

// checkOne answers a single check, with the reason if it fails: a client that may ask for a
// single check may see it.
func (c *call) checkOne(kind, name string) error {
	for _, check := range c.s.health {
		if check.Name != name || check.ReadyOnly && kind != "readyz" {
			continue
		}
		if err := check.Of(c.ctx); err != nil {
			return c.writeText(http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
		}
		return c.writeBytes(http.StatusOK, textType, []byte("ok"))
	}
	return apistatus.ErrPathNotFound
}

func (c *call) writeText(code int, text string) error {
	c.w.Header().Set("X-Content-Type-Options", "nosniff")
	return c.writeBytes(code, textType, []byte(text))
}

const textType = "text/plain; charset=utf-8"
