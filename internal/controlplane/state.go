package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/storage/snapshot"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// State is a whole cluster: all objects at one revision, without history, and the keys of the control plane. It is not
// changed.
type State struct {
	// keys are those of pki.Authority.Marshal.
	keys []byte
	// content does not have the keys.
	content *snapshot.Snapshot
}

// ErrInEtcd means that a control plane has no state of its own.
var ErrInEtcd = errors.New("the objects are in etcd, which other servers may use, too: use etcdctl, or `fairlead store snapshot --endpoints`")

// ErrNoKeys means that a file is a snapshot of a store, and not of a cluster.
var ErrNoKeys = errors.New("has no keys of a control plane: it is a snapshot of a store, which `fairlead store snapshot restore` restores")

// State returns the current state. The control plane must have the embedded store.
func (cp *ControlPlane) State(ctx context.Context) (*State, error) {
	if len(cp.options.Etcd.Servers) > 0 {
		return nil, ErrInEtcd
	}
	return stateOf(ctx, cp.store, cp.credentials.authority)
}

// StopWithState stops the control plane as Stop does, and returns its last state.
func (cp *ControlPlane) StopWithState(ctx context.Context) (s *State, err error) {
	cp.beforeClose = func() { s, err = cp.State(ctx) }
	stopErr := cp.Stop()
	return s, errors.Join(err, stopErr)
}

// StoredState returns the state in the data directory of a stopped control plane.
// progress, if not nil, is called while it is read.
func StoredState(ctx context.Context, dir string, progress func(done, total int64)) (_ *State, err error) {
	store := filepath.Join(dir, storeDir)
	has, err := HasStore(dir)
	if err == nil && !has {
		err = fmt.Errorf("there are no objects in %s", dir)
	}
	if err != nil {
		return nil, err
	}
	authority, err := pki.Load(filepath.Join(dir, pkiDir))
	if err != nil {
		return nil, err
	}
	s, err := local.Open(store, local.Options{History: -1, Progress: progress})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return stateOf(ctx, s, authority)
}

func stateOf(ctx context.Context, s storage.Store, authority *pki.Authority) (*State, error) {
	keys, err := authority.Marshal()
	if err != nil {
		return nil, err
	}
	content, err := snapshot.Capture(ctx, s)
	if err != nil {
		return nil, err
	}
	return &State{keys, content}, nil
}

// Emptied returns the state without objects. Revisions go on, so that clients which know the former objects list again.
func (s *State) Emptied() *State {
	return &State{s.keys, &snapshot.Snapshot{Revision: s.content.Revision + 1}}
}

// Since returns the state at a revision above that of another one, which it replaces, so that clients of that one list again.
func (s *State) Since(last *State) *State {
	content := *s.content
	content.Revision = max(content.Revision, last.content.Revision+1)
	return &State{s.keys, &content}
}

// Saved describes a file of Save.
type Saved struct{ Revision, Keys, Bytes int64 }

// Save writes the state to a file. It is a snapshot of a store, in which the keys have the place that the servers of one
// etcd cluster share: a server on an etcd into which it is restored finds them there.
// progress, if not nil, is called with the keys written.
func (s *State) Save(ctx context.Context, file string, progress func(done, total int64)) (Saved, error) {
	content := *s.content
	at := max(content.Revision, 1)
	content.Revision = at
	content.KVs = append(slices.Clone(content.KVs), &storage.KeyValue{Key: sharedKeys, Value: s.keys, CreateRevision: at, ModRevision: at, Version: 1})
	taken, err := content.File(ctx, filepath.Dir(file), progress)
	if err != nil {
		return Saved{}, err
	}
	defer taken.Close()
	return s.describe(taken.Size), taken.SaveAs(file)
}

func (s *State) describe(size int64) Saved {
	return Saved{int64(s.content.Revision), int64(len(s.content.KVs)), size}
}

// ReadState reads a file of Save. progress, if not nil, is called with the revisions read. Errors: snapshot.ErrCorrupt, ErrNoKeys.
func ReadState(file string, progress func(done, total int64)) (*State, Saved, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, Saved{}, err
	}
	content, err := snapshot.Read(file, progress)
	if err != nil {
		return nil, Saved{}, err
	}
	at := slices.IndexFunc(content.KVs, func(kv *storage.KeyValue) bool { return kv.Key == sharedKeys })
	if at < 0 {
		return nil, Saved{}, fmt.Errorf("%s %w", file, ErrNoKeys)
	}
	s := &State{content.KVs[at].Value, content}
	content.KVs = slices.Delete(content.KVs, at, at+1)
	if _, err := pki.Unmarshal(s.keys, time.Now); err != nil {
		return nil, Saved{}, fmt.Errorf("%s: %w", file, err)
	}
	return s, s.describe(info.Size()), nil
}

// nextDir is the folder in which a data directory's next store and keys are written.
var nextDir = filepath.Join(instanceDir, "next")

// Replace makes the state that of the data directory of a stopped control plane, which keeps its own one on failure.
func (s *State) Replace(dir string, progress func(done, total int64)) error {
	next := filepath.Join(dir, nextDir)
	if err := os.RemoveAll(next); err != nil { // of a Replace that was cut short
		return err
	}
	defer os.RemoveAll(next)
	authority, err := pki.Unmarshal(s.keys, time.Now)
	if err != nil {
		return err
	}
	if err := authority.Save(filepath.Join(next, pkiDir)); err != nil {
		return err
	}
	if err := local.Restore(filepath.Join(next, storeDir), local.Options{Progress: progress}, s.content.Revision, s.content.KVs, s.content.Leases); err != nil {
		return err
	}
	for _, name := range []string{storeDir, pkiDir} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(next, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
