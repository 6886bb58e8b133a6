package main

import (
	"context"
	"errors"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/instance"
)

// change is a request to replace the state of a running control plane.
type change struct {
	// next returns the state that replaces the last one.
	next func(last *controlplane.State) *controlplane.State
	// done gets the result.
	done chan error
}

// commands are the actions of this process for other ones. A virtual clock excludes changes: it cannot be stopped and begin again,
// and the commands come from outside of its bubble.
func (f serveFlags) commands(stop func()) instance.Commands {
	c := instance.Commands{Stop: stop}
	if f.clock != "real" {
		return c
	}
	c.Certificates = func() ([]pki.Item, error) {
		cp, err := f.runs.serving()
		if err != nil {
			return nil, err
		}
		return cp.Certificates()
	}
	c.Renew = func(ctx context.Context, r pki.Renewal) error {
		cp, err := f.runs.serving()
		if err != nil {
			return err
		}
		return cp.Renew(ctx, r)
	}
	c.Reset = func(ctx context.Context) error { return f.ask(ctx, (*controlplane.State).Emptied) }
	c.Save = func(ctx context.Context, file string, progress instance.Progress) (instance.Saved, error) {
		cp, err := f.runs.serving()
		if err != nil {
			return instance.Saved{}, err
		}
		state, err := cp.State(ctx)
		if err != nil {
			return instance.Saved{}, err
		}
		saved, err := state.Save(ctx, file, progress)
		return instance.Saved(saved), err
	}
	c.Load = func(ctx context.Context, file string, progress instance.Progress) (instance.Saved, error) {
		state, saved, err := controlplane.ReadState(file, progress)
		if err == nil {
			err = f.ask(ctx, state.Since)
		}
		return instance.Saved(saved), err
	}
	return c
}

// ask asks the control plane for a change, and returns its result.
func (f serveFlags) ask(ctx context.Context, next func(*controlplane.State) *controlplane.State) error {
	if len(f.options.Etcd.Servers) > 0 {
		return controlplane.ErrInEtcd
	}
	c := change{next, make(chan error, 1)}
	select {
	case f.runs.asked <- c:
		return <-c.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// changes returns the requests for changes; nil if changes are not possible.
func (h *hosting) changes() <-chan change {
	if h == nil {
		return nil
	}
	return h.asked
}

// replace stops a control plane and starts one with another state at the same port. If that fails, it starts one with the last
// state. The error is that of a process that has no control plane any more.
func (f serveFlags) replace(ctx context.Context, p *progress, cp *controlplane.ControlPlane, c change) (*controlplane.ControlPlane, error) {
	ctx = context.WithoutCancel(ctx) // it is short, and half of it is a loss
	p.line("Replacing all objects")
	last, err := cp.StopWithState(ctx)
	if last == nil {
		c.done <- err
		return nil, err
	}
	started, err := f.start(ctx, c.next(last))
	if err != nil {
		c.done <- err
		started, err = f.start(ctx, last)
		f.runs.current.Store(started)
		return started, err
	}
	f.runs.current.Store(started)
	c.done <- f.runs.renew(started.Entry())
	return started, nil
}

// serving returns the control plane that serves.
func (h *hosting) serving() (*controlplane.ControlPlane, error) {
	cp := h.current.Load()
	if cp == nil {
		return nil, errors.New("the server is not ready")
	}
	return cp, nil
}

// renew updates the context in the user's kubeconfig, since certificates were renewed or a loaded cluster has other ones.
func (h *hosting) renew(e kubeconfig.Entry) error {
	if h.record == nil || h.record.Merged == "" {
		return nil
	}
	return kubeconfig.Renew(h.record.Merged, e)
}
