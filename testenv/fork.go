package testenv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/port"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/trace"
)

// Fork starts a control plane with the state of the base, and stops it at the end of the test. It fails the test if it
// can't. A test that fails explains itself as one of New.
func (b *Base) Fork(t T) *Env {
	t.Helper()
	e, err := b.Start(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	e.endWith(t)
	return e
}

// Start starts a control plane with the state of the base, and returns when its API server answers. ctx and
// Options.Timeout limit the start only. End it by Stop. An error leaves no file behind.
func (b *Base) Start(ctx context.Context) (*Env, error) {
	e := &Env{authority: b.authority, timeout: b.timeout, log: &log{to: b.log}}
	e.origin = b
	if err := e.fork(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	return e, nil
}

// fork starts the control plane of an environment that has only its origin.
func (e *Env) fork(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	if e.dir, err = os.MkdirTemp("", "fairlead-"); err != nil {
		return err
	}
	cp, err := e.prepareFork(ctx)
	if err != nil {
		return errors.Join(err, os.RemoveAll(e.dir))
	}
	e.own(cp)
	if e.api, err = newAPIClient(e.config); err == nil {
		err = e.addFaults(ctx, e.origin.faults)
	}
	if err != nil {
		e.Stop() // its error would only follow from this one
	}
	return err
}

func (e *Env) prepareFork(ctx context.Context) (plane, error) {
	e.place = controlplane.Place{DataDir: filepath.Join(e.dir, "data"), Log: slog.New(slog.NewTextHandler(e.log, nil))}
	if e.origin.bubble {
		e.network = new(memnet.Network)
		e.place.Network, e.place.Listen = e.network, "127.0.0.1:0"
	} else {
		free, err := port.Free(1) // Reset will listen there again
		if err != nil {
			return nil, err
		}
		e.place.Listen = free[0]
	}
	if origin := e.origin.webhooks; origin != (Webhooks{}) {
		if err := e.prepareWebhooks(); err != nil {
			return nil, err
		}
		e.place.Redirects = map[string]string{origin.address(): e.webhooks.address()}
	}
	return e.begin(ctx)
}

// begin starts a control plane with the state of the origin.
func (e *Env) begin(ctx context.Context) (plane, error) {
	place := e.place
	place.Faults, place.Trace = faults.New(), trace.New(trace.Options{})
	return e.origin.frozen.fork(ctx, place)
}

// Reset goes back to the state of the base that the environment was forked from, at the same address and with the same
// credentials. It ends all requests and watches. Start clients with caches anew: they would wait for revisions that they
// have seen and that are still to come. ctx and Options.Timeout limit it. After an error of a fork the environment has ended.
func (e *Env) Reset(ctx context.Context) error {
	if e.origin == nil {
		return fmt.Errorf("%s: Reset: the environment is not a fork of a Base", agent)
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	e.resets.Lock()
	defer e.resets.Unlock()
	if e.hasEnded() {
		return fmt.Errorf("%s: Reset: the environment has ended", agent)
	}
	if err := e.restart(ctx); err != nil {
		e.end()
		return fmt.Errorf("%s: Reset: %w", agent, err)
	}
	return nil
}

// restart replaces the control plane by one with the state of the origin.
func (e *Env) restart(ctx context.Context) error {
	err := e.halt()
	e.api.close()
	if err != nil {
		return err
	}
	at, err := url.Parse(e.config.Host)
	if err != nil {
		return err
	}
	e.place.Listen = at.Host
	cp, err := e.begin(ctx)
	if err != nil {
		return err
	}
	e.supervise(cp)
	return e.addFaults(ctx, e.origin.faults)
}
