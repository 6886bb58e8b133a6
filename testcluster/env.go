package testcluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Env is a running control plane. Make it with New or Start.
type Env struct {
	config     *rest.Config
	kubeconfig string
	api        *apiClient
	authority  *authority
	webhooks   Webhooks
	timeout    time.Duration
	log        *log
	// dir is a directory for the environment's files, which the end of the control plane removes.
	dir string
	// local is the part of this package alone.
	local
	// stop ends the control plane, and ended is closed when it has ended, by stop or without.
	stop  func() error
	ended <-chan struct{}

	// mu guards the content of reports.
	mu struct {
		sync.Mutex
		// attached are the tests that have waited, or that the environment is for.
		attached map[T]bool
		// reported are those whose failure has been explained.
		reported map[T]bool
		// waited are the objects waited for, the latest last.
		waited []subject
	}
}

// Start starts a control plane, and returns when its API server answers, its CRDs are served and its webhooks are
// configured; controllers, scheduler and nodes are starting by then. ctx and Options.Timeout limit the start only. End
// it by Stop. An error leaves no process and no file behind.
func Start(ctx context.Context, o Options) (*Env, error) {
	p, err := newPlan(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	e := newEnv(p)
	if err := e.run(ctx, o, p); err != nil {
		return nil, err
	}
	return e, nil
}

// newEnv returns the environment of a plan, which has not started.
func newEnv(p plan) *Env { return &Env{authority: p.authority, timeout: p.timeout, log: p.log} }

// run starts a new environment.
func (e *Env) run(ctx context.Context, o Options, p plan) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := e.start(ctx, o, p); err != nil {
		return fmt.Errorf("%s: %w", agent, err)
	}
	if err := e.install(ctx, p); err != nil {
		e.Stop() // its error would only follow from this one
		return fmt.Errorf("%s: %w", agent, err)
	}
	return nil
}

// install creates the objects of the plan in the running control plane.
func (e *Env) install(ctx context.Context, p plan) (err error) {
	if e.api, err = newAPIClient(e.config); err != nil {
		return err
	}
	if p.calls {
		if err := e.prepareWebhooks(); err != nil {
			return err
		}
		e.redirect(append(slices.Clip(p.crds), p.webhooks...))
	}
	if err := e.createCRDs(ctx, p.crds); err != nil {
		return err
	}
	if err := e.createWebhooks(ctx, p.webhooks); err != nil {
		return err
	}
	return e.addFaults(ctx, p.faults)
}

// New starts a control plane as Start does, and stops it at the end of the test. It fails the test if it can't. If the
// test fails, for whatever reason, it logs the same as Eventually, and the end of the control plane's log.
func New(t T, o Options) *Env {
	t.Helper()
	e, err := Start(context.Background(), o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	e.endWith(t)
	return e
}

// endWith stops the environment at the end of the test, and attaches it to the test.
func (e *Env) endWith(t T) {
	t.Cleanup(func() {
		if holds() {
			e.hold(t)
		}
		if err := e.Stop(); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
		if text := e.log.String(); t.Failed() && text != "" {
			t.Logf("the control plane's log:\n%s", text)
		}
	})
	e.attach(t)
}

// attach makes a test explain itself if it fails.
func (e *Env) attach(t T) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.attached[t] {
		return
	}
	if e.mu.attached == nil {
		e.mu.attached, e.mu.reported = map[T]bool{}, map[T]bool{}
	}
	e.mu.attached[t] = true
	t.Cleanup(func() {
		if t.Failed() {
			e.report(t)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.mu.attached, t)
		delete(e.mu.reported, t)
	})
}

// Stop ends the control plane, and removes its files. It returns the error with which
// the control plane ended; further calls return the same.
func (e *Env) Stop() error {
	if e.api != nil {
		e.api.close()
	}
	return e.stop()
}

// hasEnded reports whether the control plane has ended.
func (e *Env) hasEnded() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// Config returns an administrator's access. It is the caller's own copy, without a limit on requests.
func (e *Env) Config() *rest.Config {
	config := rest.CopyConfig(e.config)
	config.QPS = -1
	return config
}

// KubeconfigPath returns the administrator's kubeconfig, a file for programs that want one. It is removed by Stop.
// It is "" in a bubble of testing/synctest, into which no program can connect.
func (e *Env) KubeconfigPath() string { return e.kubeconfig }

// PageURL returns a link to the server's page, which is good for one login within ten minutes.
func (e *Env) PageURL(ctx context.Context) (string, error) {
	var link struct{ Path string }
	if err := e.api.do(ctx, "POST", "/ui/links", nil, &link); err != nil {
		return "", fmt.Errorf("%s: %w", agent, err)
	}
	return e.config.Host + link.Path, nil
}
