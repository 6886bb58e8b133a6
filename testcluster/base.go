package testcluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Base is a prepared control plane, with whose state forks begin. Make it with Prepare. It is safe for concurrent use.
type Base struct {
	host      *Env
	commands  *commands
	timeout   time.Duration
	faults    []Fault
	webhooks  Webhooks
	prepared  hosted
	authority *authority
	// forks counts them, for their names.
	forks atomic.Int64
}

// preparedName is that of the control plane whose first state is the base's.
const preparedName = "prepared"

// Prepare starts a control plane as Start does, calls fixtures to fill it, and keeps its state: its objects with their UIDs
// and revisions, certificates and users. Fork then starts control planes with that state in the same process, none of which
// sees or disturbs another. fixtures may be nil; goroutines and clients that it starts must end before it returns. Prepare
// returns its error. An error leaves no process and no file behind.
//
// Webhooks of Options are called in forks, where each has an address of its own: see Env.Webhooks. Options.Faults are
// injected into each fork, not while fixtures runs.
func Prepare(ctx context.Context, o Options, fixtures func(*Env) error) (*Base, error) {
	b := &Base{faults: o.Faults}
	o.Faults = nil
	p, err := newPlan(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	b.host = newEnv(p)
	b.host.hosts = true
	if err := b.host.run(ctx, o, p); err != nil {
		return nil, err
	}
	b.timeout, b.webhooks, b.authority = p.timeout, b.host.webhooks, p.authority
	b.commands = newCommands(b.host.process)
	if err := b.fill(ctx, fixtures); err != nil {
		return nil, fmt.Errorf("%s: %w", agent, errors.Join(err, b.Close()))
	}
	return b, nil
}

// fill calls fixtures, and keeps the state.
func (b *Base) fill(ctx context.Context, fixtures func(*Env) error) (err error) {
	if fixtures != nil {
		if err := fixtures(b.host); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	b.prepared, err = b.commands.send(ctx, "fork "+preparedName)
	return err
}

// Close ends the process, and with it all environments that were forked from it.
func (b *Base) Close() error { return b.host.Stop() }
