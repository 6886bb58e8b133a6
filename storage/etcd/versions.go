package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/storage"
)

// Versions implements storage.Store. A version costs one read of the key just before the version
// after it. What was before a creation, perhaps an earlier key of the same name, only a watch can
// find, for which the cluster reads its whole history.
func (s *Store) Versions(ctx context.Context, r storage.VersionsRequest) (storage.VersionsResult, error) {
	if r.Before < 0 || r.Limit < 1 {
		return storage.VersionsResult{}, fmt.Errorf("%d versions before %d: %w", r.Limit, r.Before, storage.ErrInvalid)
	}
	for {
		rev, err := s.Current(ctx)
		if err != nil {
			return storage.VersionsResult{}, err
		}
		w := versionWalk{store: s, key: r.Key, limit: r.Limit}
		w.res.Revision, w.res.Compacted = rev, s.Compacted()
		at := rev
		if r.Before > 0 {
			at = min(at, r.Before-1)
		}
		if err = w.walk(ctx, at); err == nil {
			return w.res, nil
		}
		if !errors.Is(err, storage.ErrCompacted) {
			return storage.VersionsResult{}, err
		}
		// Another process has compacted the cluster.
		if err := s.findCompacted(ctx); err != nil {
			return storage.VersionsResult{}, err
		}
	}
}

// versionWalk goes back through the versions of a key. Its methods fail with ErrCompacted if the
// cluster has been compacted beyond res.Compacted.
type versionWalk struct {
	store *Store
	key   string
	limit int
	res   storage.VersionsResult
}

// walk adds the versions from a revision down.
func (w *versionWalk) walk(ctx context.Context, at storage.Revision) error {
	before := at
	kv, err := w.read(ctx, max(at, w.res.Compacted))
	if err != nil {
		return err
	}
	if kv != nil && kv.ModRevision > before {
		return nil // the compacted state itself is above
	}
	for kv != nil {
		if w.full() {
			return nil
		}
		if kv.ModRevision <= w.res.Compacted {
			w.add(storage.Event{KV: kv})
			return nil
		}
		at = kv.ModRevision - 1
		var prev *storage.KeyValue
		if kv.Version > 1 {
			if prev, err = w.read(ctx, at); err != nil {
				return err
			}
		}
		w.add(storage.Event{KV: kv, Prev: prev})
		kv = prev
	}
	if at <= w.res.Compacted || w.full() {
		return nil
	}
	return w.search(ctx, at)
}

// read reads the key at a revision; nil if it does not exist.
func (w *versionWalk) read(ctx context.Context, at storage.Revision) (*storage.KeyValue, error) {
	if at < 1 {
		return nil, nil
	}
	res, err := w.store.Range(ctx, storage.RangeRequest{Start: w.key, Revision: at})
	if err != nil || len(res.KVs) == 0 {
		return nil, err
	}
	return res.KVs[0], nil
}

func (w *versionWalk) add(e storage.Event) {
	w.res.Versions = append(w.res.Versions, storage.Version{Event: e})
}

// full reports whether there is no room for another version, and notes that there may be one.
func (w *versionWalk) full() bool {
	w.res.More = len(w.res.Versions) == w.limit
	return w.res.More
}

// search adds the versions from a revision down at which the key does not exist.
func (w *versionWalk) search(ctx context.Context, at storage.Revision) error {
	c, err := w.store.Watch(storage.WatchRequest{Start: w.key, After: max(w.res.Compacted, 1), Prev: true})
	if err != nil {
		return err
	}
	defer c.Close()
	c.Want(at)
	var found []storage.Event // the last ones, and one more than there is room for
	for done := false; !done; {
		b, err := c.Next()
		if err != nil {
			return err
		}
		done = b.Progress >= at
		for _, e := range b.Events {
			if e.Revision() <= at {
				found = append(found, e)
			}
		}
		if n := len(found) - (w.limit - len(w.res.Versions) + 1); n > 0 {
			found = slices.Delete(found, 0, n)
		}
		if done || len(b.Events) > 0 {
			continue
		}
		select {
		case <-c.Bell():
		case <-time.After(wantFor / 2):
			c.Want(at)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
		}
	}
	for _, e := range slices.Backward(found) {
		if w.full() {
			return nil
		}
		w.add(e)
	}
	if len(found) > 0 && found[0].Prev != nil && !w.full() {
		w.add(storage.Event{KV: found[0].Prev})
	}
	return nil
}
