package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Base is the state of a prepared control plane, with which forks begin. Make it with Prepare. It is safe for concurrent
// use.
type Base struct {
	frozen    state // nil until the control plane is stopped
	authority *authority
	timeout   time.Duration
	faults    []Fault
	log       io.Writer
	bubble    bool
	// webhooks is where the configurations of webhooks point to.
	webhooks Webhooks
}

// Prepare starts a control plane as Start does, calls fixtures to fill it, waits up to five seconds until its controllers
// are idle, stops it, and keeps its state: its objects with
// their UIDs and revisions, certificates and users. Fork then starts control planes with that state, none of which sees or
// disturbs another. fixtures may be nil; goroutines and clients that it starts must end before it returns. Prepare returns
// its error. An error leaves no file and no goroutine behind.
//
// Webhooks of Options are called in forks, where each has an address of its own: see Env.Webhooks. Options.Faults are
// injected into each fork, not while fixtures runs. Options.DataDir must be empty. Forks in a bubble of testing/synctest
// (Options.Bubble) need a Base that was prepared in the same bubble.
func Prepare(ctx context.Context, o Options, fixtures func(*Env) error) (*Base, error) {
	if o.DataDir != "" {
		return nil, fmt.Errorf("%s: Options.DataDir is set, but a Base is in memory", agent)
	}
	b := &Base{faults: o.Faults, bubble: o.Bubble}
	if o.Log != nil {
		b.log = &serialWriter{to: o.Log}
	}
	o.Faults, o.Log = nil, b.log
	p, err := newPlan(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	e := newEnv(p)
	e.sleeps = true // as its forks will
	if err := e.run(ctx, o, p); err != nil {
		return nil, err
	}
	if err := errors.Join(e.freeze(ctx, b, fixtures), e.Stop()); err != nil {
		if b.frozen != nil {
			err = errors.Join(err, b.frozen.Close())
		}
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	return b, nil
}

// freeze fills the environment and moves its state to the base, which ends its control plane.
func (e *Env) freeze(ctx context.Context, b *Base, fixtures func(*Env) error) (err error) {
	if fixtures != nil {
		if err := fixtures(e); err != nil {
			return err
		}
	}
	b.authority, b.timeout, b.webhooks = e.authority, e.timeout, e.webhooks
	b.frozen, err = e.cp.freeze(ctx)
	return err
}

// Close frees the state. Environments that were forked from it stay, and can no longer be reset.
func (b *Base) Close() error { return b.frozen.Close() }

// serialWriter passes on one write at a time.
type serialWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *serialWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
