package health

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
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/storage"
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

// storeTimeout bounds the time in which the store must return its revision, as in
// kube-apiserver; else the check etcd fails.
const storeTimeout = 2 * time.Second

// errStopping is the error of the check shutdown.
var errStopping = errors.New("process is shutting down")

// Shard is a store of single resources; the members mean the same as those of Config.
type Shard struct {
	Store    storage.Store
	Writable func() error
}

// Config has the parts of a server that its checks look at.
type Config struct {
	Store storage.Store
	// Writable, if set, returns why the store cannot be written.
	Writable func() error
	// Shards are the stores of single resources.
	Shards []Shard
	// Caches returns why the watch caches are not in step with the store.
	Caches func() error
	// Stopping reports whether the process is shutting down.
	Stopping func() bool
	// More are further checks.
	More []Check
}

// Checks answers /livez, /readyz and /healthz.
type Checks struct {
	list []Check
	slis metrics.SLIs
}

// New returns the checks in kube-apiserver's order: the server's own, then those of the
// configuration, then shutdown.
func New(cfg Config) *Checks {
	store := Shard{cfg.Store, cfg.Writable}.check
	pass := func(context.Context) error { return nil }
	list := []Check{
		{Name: "ping", Of: pass},
		{Name: "log", Of: pass}, // log lines are written at once, so this cannot fail
		{Name: "etcd", Of: store},
		{Name: "etcd-readiness", ReadyOnly: true, Of: store},
	}
	for i, s := range cfg.Shards {
		list = append(list,
			Check{Name: fmt.Sprintf("etcd-override-%d", i), Of: s.check},
			Check{Name: fmt.Sprintf("etcd-override-readiness-%d", i), ReadyOnly: true, Of: s.check})
	}
	list = append(list, Check{Name: "informer-sync", ReadyOnly: true, Of: func(context.Context) error { return cfg.Caches() }})
	list = append(list, cfg.More...)
	return &Checks{append(list, Check{Name: "shutdown", ReadyOnly: true, Of: func(context.Context) error {
		if cfg.Stopping() {
			return errStopping
		}
		return nil
	}}), metrics.NewSLIs()}
}

// check returns why the store cannot be used.
func (s Shard) check(ctx context.Context) error {
	if s.Writable != nil {
		if err := s.Writable(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := s.Store.Current(ctx)
	return err
}

// Paths returns the paths of all checks.
func (h *Checks) Paths() (list []string) {
	for _, kind := range []string{"healthz", "livez", "readyz"} {
		for _, check := range h.list {
			if !check.ReadyOnly || kind == "readyz" {
				list = append(list, "/"+kind+"/"+check.Name)
			}
		}
	}
	return list
}

// SLIs returns the handler of /metrics/slis.
func (h *Checks) SLIs() http.Handler { return h.slis.Handler }

// IsPath reports whether the path is one of a health check.
func IsPath(path string) bool {
	for _, kind := range []string{"/healthz", "/livez", "/readyz"} {
		if path == kind || strings.HasPrefix(path, kind+"/") {
			return true
		}
	}
	return false
}

// Serve answers a path for which IsPath is true, with all checks or a single one.
func (h *Checks) Serve(c *call.Call, path string) error {
	kind, one, single := strings.Cut(path[1:], "/")
	if single {
		return h.serveOne(c, kind, one)
	}
	excluded := slices.Clone(c.Query["exclude"])
	var text strings.Builder
	var failed []string
	for _, check := range h.list {
		if check.ReadyOnly && kind != "readyz" {
			continue
		}
		if slices.Contains(c.Query["exclude"], check.Name) {
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == check.Name })
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", check.Name)
			continue
		}
		err := check.Of(c.Context)
		h.slis.Observe(check.Name, kind, err)
		if err != nil {
			failed = append(failed, check.Name)
			c.Log.Warn("health check failed", "check", check.Name, "of", kind, "error", err)
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
	_, verbose := c.Query["verbose"]
	switch {
	case len(failed) > 0:
		return c.WriteText(http.StatusInternalServerError, text.String()+kind+" check failed\n")
	case verbose:
		return c.WriteText(http.StatusOK, text.String()+kind+" check passed\n")
	}
	return c.WriteText(http.StatusOK, "ok")
}

// serveOne answers a single check, with the reason if it fails: a client that may ask for a
// single check may see it.
func (h *Checks) serveOne(c *call.Call, kind, name string) error {
	for _, check := range h.list {
		if check.Name != name || check.ReadyOnly && kind != "readyz" {
			continue
		}
		if err := check.Of(c.Context); err != nil {
			return c.WriteText(http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
		}
		return c.WriteBytes(http.StatusOK, call.TextType, []byte("ok"))
	}
	return apistatus.ErrPathNotFound
}
