package controlplane

import (
	"context"
	"errors"
	"log/slog"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/storage/encryption"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// Frozen is the state of a prepared control plane that no longer runs: objects, keys and certificates. Forks begin with
// it. Make it with ControlPlane.Freeze. It is safe for concurrent use.
type Frozen struct {
	options     Options
	store       store // a *local.Store
	credentials credentials
	// keys encrypt the values of the store; nil without encryption.
	keys *encryption.Keys
	// known is the part of it that the control plane's server had read.
	known known
	// idle is whether the control plane was idle in the state.
	idle idleState
}

// begins returns whether a control plane with the state, or without one, begins asleep.
func (f *Frozen) begins() idleState {
	if f == nil {
		return idleState{}
	}
	return f.idle
}

// read returns the part of the state, if there is one, that need not be read again.
func (f *Frozen) read() known {
	if f == nil {
		return known{}
	}
	return f.known
}

// Freeze stops the control plane as Stop does and returns its state, which the caller closes. The control plane must be
// in memory.
func (cp *ControlPlane) Freeze(ctx context.Context) (*Frozen, error) {
	if !cp.options.InMemory {
		return nil, errors.New("only a control plane in memory can be frozen")
	}
	// The parts end before the state is taken, so that none of them is in the middle of its work.
	r := cp.settle(ctx)
	cp.sleeper.close()
	cp.stopClients()
	if err := errors.Join(ignoreCancel([]error{cp.clients.Wait()})...); err != nil {
		return nil, err
	}
	f, err := cp.Snapshot(ctx, 0)
	if err != nil {
		return nil, err
	}
	f.idle = r
	if err := cp.Stop(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Snapshot returns the state at a revision that the store keeps, which the caller closes; revision 0 is the current one.
// The control plane goes on. It must have the embedded store. Objects of the Host are left out. Errors:
// storage.ErrCompacted, storage.ErrFutureRevision.
func (cp *ControlPlane) Snapshot(ctx context.Context, at storage.Revision) (*Frozen, error) {
	live, ok := cp.store.(*local.Store)
	if !ok {
		return nil, errors.New("a control plane on etcd cannot be forked")
	}
	o := local.ForkOptions{Options: local.Options{History: -1}}
	if cp.options.Host != nil {
		o.Without = cp.options.Host.Prefixes()
	}
	kept, err := live.Fork(ctx, at, o)
	if err != nil {
		return nil, err
	}
	cp.credentials.uses.share()
	return &Frozen{options: cp.options, store: kept, credentials: cp.credentials, keys: cp.keys.Share(), known: cp.known(ctx, kept.Revision(), o.Without), idle: cp.sleptAt(kept.Revision())}, nil
}

// known returns the part of the state at a revision that the server has read, except below prefixes of keys.
func (cp *ControlPlane) known(ctx context.Context, at storage.Revision, without []string) known {
	return known{
		builtin: cp.builtin, discovery: cp.discovery, roles: rbac.NewShared(at), kinds: cp.extensions.Kinds(), services: cp.services.Known(),
		contents: cp.server.Contents(ctx, at, without),
	}
}

// Revisions returns the first and the last revision of which Snapshot takes the state, and whether it takes any.
func (cp *ControlPlane) Revisions() (first, last storage.Revision, ok bool) {
	_, ok = cp.store.(*local.Store)
	return cp.store.Compacted(), cp.store.Revision(), ok
}

// Revision is that of the state.
func (f *Frozen) Revision() storage.Revision { return f.store.Revision() }

// WithOwnKeys returns the same state for forks with keys of their own: they accept the credentials that the frozen control
// plane has issued, which does not accept theirs. The two share the state, which is closed once.
func (f *Frozen) WithOwnKeys() (*Frozen, error) {
	authority, err := pki.New(f.options.realTime())
	if err != nil {
		return nil, err
	}
	own := *f
	own.credentials = f.credentials.under(authority)
	return &own, nil
}

// Place is what each fork has of its own; the fields are those of Options.
type Place struct {
	DataDir, Kubeconfig, Listen, EtcdListen string
	Network                                 *memnet.Network
	Front                                   *Front
	Redirects                               map[string]string
	MaxStoreBytes                           int64
	Faults                                  *faults.Set
	Trace                                   *trace.Log
	Progress, Warning                       func(what, detail string)
	Log                                     *slog.Logger
}

// Fork starts a control plane in memory that begins with the frozen state: the same objects, UIDs and revisions, users and
// certificates. It neither sees nor disturbs others. Of the options, those of files, addresses and logs are those of
// place, and it is no Host; all others are those that the frozen control plane was started with. ctx limits the start only.
func (f *Frozen) Fork(ctx context.Context, place Place) (*ControlPlane, error) {
	o := f.options
	o.InMemory, o.Sleeps, o.Host, o.Elect = true, true, nil, nil
	o.DataDir, o.Kubeconfig, o.Listen, o.EtcdListen = place.DataDir, place.Kubeconfig, place.Listen, place.EtcdListen
	o.Network, o.Front, o.Redirects, o.MaxStoreBytes = place.Network, place.Front, place.Redirects, place.MaxStoreBytes
	o.Faults, o.Trace, o.Progress, o.Warning, o.Log = place.Faults, place.Trace, place.Progress, place.Warning, place.Log
	o.Definitions = o.Definitions.FromFiles()
	return begin(ctx, o, f)
}

// Close frees the state. Its forks stay.
func (f *Frozen) Close() error {
	f.keys.Close()
	f.credentials.uses.close()
	return f.store.Close()
}
