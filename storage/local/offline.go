package local

import (
	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
	"fairlead.dev/internal/storage/mvcc"
)

// A Report is the result of Verify.
type Report struct {
	// Revision is the last revision, Compacted that of the last compaction.
	Revision, Compacted storage.Revision
	// Keys counts existing keys, Events those kept for watchers, Leases those not ended.
	Keys, Events, Leases int64
	// LiveBytes is the size of the existing keys and their values, DiskBytes that of the directory.
	LiveBytes, DiskBytes uint64
}

// Verify reads all of a store that no process has open, without changing it: every checksum, every
// record, the order and the completeness of the log, which Open checks too, and also the order of
// Pebble's tables. each, if not nil, is called with all keys in their order once all checks have passed. Errors: as for Open.
func Verify(dir string, o Options, each func(*storage.KeyValue)) (Report, error) {
	o = o.withDefaults()
	img, disk, err := engine.Verify(dir, o.engine())
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Revision: img.Rev, Compacted: img.Compacted,
		Keys: img.Live.Keys, Events: img.Log.End - img.Log.First, Leases: int64(len(img.Leases.ByID)),
		LiveBytes: uint64(img.Live.Bytes), DiskBytes: disk,
	}
	if each != nil {
		img.Tree.Scan(func(_ string, e *mvcc.Entry) bool {
			if kv := e.Head.Load().Live(); kv != nil {
				each(kv)
			}
			return true
		})
	}
	return r, nil
}

// Restore makes dir a store that holds kvs, each at its revisions and in their order, and leases,
// with their full TTL. The store is at revision r and compacted there: watchers of the original
// store list again, and revisions continue from r. dir must be empty or missing; a Restore that was
// interrupted can be repeated. Errors: as for Open, and ErrExists if dir holds a store.
func Restore(dir string, o Options, r storage.Revision, kvs []*storage.KeyValue, leases []storage.Lease) error {
	o = o.withDefaults()
	return engine.Restore(dir, o.engine(), r, kvs, leases)
}
