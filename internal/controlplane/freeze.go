package controlplane

import (
	"context"
	"errors"
	"log/slog"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// Frozen is the state of a prepared control plane that no longer runs: objects, keys and certificates. Forks begin with
// it. Make it with ControlPlane.Freeze. It is safe for concurrent use.
type Frozen struct {
	options   Options
	store     *local.Store
	authority *pki.Authority
}

// Freeze stops the control plane as Stop does and returns its state, which the caller closes. The control plane must be
// in memory.
func (cp *ControlPlane) Freeze(ctx context.Context) (*Frozen, error) {
	live, ok := cp.store.(*local.Store)
	if !ok || !cp.options.InMemory {
		return nil, errors.New("only a control plane in memory can be frozen")
	}
	// The parts end before the state is taken, so that none of them is in the middle of its work.
	cp.stopClients()
	if err := errors.Join(ignoreCancel([]error{cp.clients.Wait()})...); err != nil {
		return nil, err
	}
	kept, err := live.Fork(ctx, 0, local.Options{History: -1})
	if err != nil {
		return nil, err
	}
	if err := cp.Stop(); err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return &Frozen{options: cp.options, store: kept, authority: cp.credentials.authority}, nil
}

// Place is what each fork has of its own; the fields are those of Options.
type Place struct {
	DataDir, Kubeconfig, Listen string
	Network                     *memnet.Network
	Faults                      *faults.Set
	Trace                       *trace.Log
	Progress, Warning           func(what, detail string)
	Log                         *slog.Logger
}

// Fork starts a control plane in memory that begins with the frozen state: the same objects, UIDs and revisions, users and
// certificates. It neither sees nor disturbs others. Of the options, those of files, addresses and logs are those of
// place; all others are those that the frozen control plane was started with. ctx limits the start only.
func (f *Frozen) Fork(ctx context.Context, place Place) (*ControlPlane, error) {
	o := f.options
	o.DataDir, o.Kubeconfig, o.Listen, o.Network = place.DataDir, place.Kubeconfig, place.Listen, place.Network
	o.Faults, o.Trace, o.Progress, o.Warning, o.Log = place.Faults, place.Trace, place.Progress, place.Warning, place.Log
	o.Definitions = o.Definitions.FromFiles()
	return begin(ctx, o, f)
}

// Close frees the state. Its forks stay.
func (f *Frozen) Close() error { return f.store.Close() }
