package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// sharedKeys is where the servers of one etcd cluster keep the authority and the token
// key that they share. It lies below no resource's prefix, so no request reaches it.
const sharedKeys = watchcache.Root + "fairlead-pki"

// loadAuthority reads the keys that this server works with, or makes them: in the data
// directory, or, on an etcd cluster, in the cluster, where all its servers find them.
func loadAuthority(ctx context.Context, o Options, s storage.Store) (*pki.Authority, error) {
	dir := filepath.Join(o.DataDir, pkiDir)
	switch {
	case o.InMemory && o.State != nil:
		return pki.Unmarshal(o.State.keys, o.realTime())
	case o.InMemory:
		return pki.New(o.realTime())
	case len(o.Etcd.Servers) > 0:
		return shareAuthority(ctx, o, s, dir)
	}
	return pki.Load(dir)
}

// shareAuthority agrees on keys with the other servers of the cluster: the first server
// writes them, all others read them. Keys in dir come from a server that had its own store,
// or from an operator; they are offered to a cluster without keys, and refused if the
// cluster has others, since clients would then not trust one of the two.
func shareAuthority(ctx context.Context, o Options, s storage.Store, dir string) (*pki.Authority, error) {
	kept, err := pki.Kept(dir)
	if err != nil {
		return nil, err
	}
	var own *pki.Authority
	if kept {
		if own, err = pki.Load(dir); err != nil {
			return nil, err
		}
	}
	shared, at, err := readShared(ctx, s)
	if err == nil && shared != nil {
		var made bool
		if made, err = shared.Complete(); made && err == nil {
			shared, err = offerShared(ctx, s, shared, at)
		}
	}
	if err == nil && shared == nil {
		offer := own
		if offer == nil {
			if offer, err = pki.New(o.realTime()); err != nil {
				return nil, err
			}
		}
		shared, err = offerShared(ctx, s, offer, 0)
	}
	switch {
	case err != nil:
		return nil, err
	case own != nil && !own.Equal(shared):
		return nil, fmt.Errorf("the keys in %s are not those that the servers of this etcd cluster share: move the directory away to use theirs", dir)
	}
	return shared, nil
}

// readShared returns the keys and the revision of their write; nil if the cluster has no
// keys yet.
func readShared(ctx context.Context, s storage.Store) (*pki.Authority, storage.Revision, error) {
	res, err := s.Range(ctx, storage.RangeRequest{Start: sharedKeys})
	if err != nil || len(res.KVs) == 0 {
		return nil, 0, err
	}
	a, err := pki.Unmarshal(res.KVs[0].Value, time.Now)
	return a, res.KVs[0].ModRevision, err
}

// offerShared writes keys in place of those of revision at, 0 if the cluster has no keys,
// unless another server has done so, and returns the stored keys.
func offerShared(ctx context.Context, s storage.Store, a *pki.Authority, at storage.Revision) (*pki.Authority, error) {
	text, err := a.Marshal()
	if err != nil {
		return nil, err
	}
	res, err := s.Commit(ctx, storage.Txn{
		If:   []storage.Condition{{Key: sharedKeys, ModRevision: at}},
		Then: []storage.Op{{Type: storage.Put, Key: sharedKeys, Value: text}},
	})
	switch {
	case err != nil:
		return nil, err
	case res.Succeeded:
		return a, nil
	}
	shared, _, err := readShared(ctx, s)
	if err == nil && shared == nil {
		err = errors.New("the keys that the servers of this etcd cluster share came and went")
	}
	return shared, err
}
