package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
	"fairlead.dev/internal/storage/mvcc"
)

// Restore makes dir a store that holds kvs, each at its revisions and in their order, and leases,
// with their full TTL. The store is at revision r and compacted there: watchers of the original
// store list again, and revisions continue from r. dir must be empty or missing; a Restore that was
// interrupted can be repeated. Errors: as for Open, and datadir.ErrExists if dir holds a store.
func Restore(dir string, o Options, r storage.Revision, kvs []*storage.KeyValue, leases []storage.Lease) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	marker, err := datadir.ReadMarker(o.FS, dir)
	if err != nil {
		return err
	}
	if marker == datadir.Ready {
		return fmt.Errorf("%s %w: choose an empty directory", dir, datadir.ErrExists)
	}
	sub := o.FS.PathJoin(dir, datadir.EngineDir)
	err = errors.Join(datadir.Make(o.FS, dir), datadir.WriteMarker(o.FS, dir, datadir.Creating), o.FS.RemoveAll(sub), datadir.Make(o.FS, sub))
	if err != nil {
		return err
	}
	lock, err := lockDir(dir, sub, o)
	if err != nil {
		return err
	}
	err = createWith(dir, sub, o, lock, func(db *pebble.DB) error {
		return fill(db, r, kvs, leases, o.Progress)
	})
	if errors.Is(err, guard.ErrStuck) {
		return err
	}
	return errors.Join(err, lock.Close())
}

// fillBytes is the approximate size of a batch.
const fillBytes = 1 << 20

func fill(db *pebble.DB, r storage.Revision, kvs []*storage.KeyValue, leases []storage.Lease, progress func(done, total int64)) error {
	b := db.NewBatch()
	b.Set(compactedKey, uint64Value(uint64(r)), nil)
	for _, l := range leases {
		b.Set(leaseKey(l.ID), uint64Value(uint64(l.TTL/time.Second)), nil)
	}
	next := func() error {
		err := errors.Join(db.Apply(b, pebble.NoSync), b.Close())
		b = db.NewBatch()
		return err
	}
	var last storage.Revision
	var place uint32
	for i, kv := range kvs {
		if kv.ModRevision < max(1, last) || kv.ModRevision > r || kv.CreateRevision > kv.ModRevision {
			return fmt.Errorf("key %q, written at revision %d after %d, of %d: %w", kv.Key, kv.ModRevision, last, r, storage.ErrInvalid)
		}
		if place++; kv.ModRevision != last {
			last, place = kv.ModRevision, 0
		}
		v := mvcc.NewVersion(*kv, place, false)
		value := make([]byte, recordSize(v))
		encodeRecord(value, v, false)
		b.Set(appendRecordKey(nil, kv.ModRevision, v.Sub), value, nil)
		if b.Len() < fillBytes && i+1 < len(kvs) {
			continue
		}
		if err := next(); err != nil {
			return err
		}
		if progress != nil {
			progress(int64(i+1), int64(len(kvs)))
		}
	}
	return errors.Join(next(), db.Flush())
}
