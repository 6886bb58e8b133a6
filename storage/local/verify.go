package local

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
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
// Pebble's tables. progress, if not nil, is called with the number of records read; each, if not
// nil, is called with all keys in their order once all checks have passed. Errors: as for Open.
func Verify(dir string, o Options, progress func(records int64), each func(*storage.KeyValue)) (Report, error) {
	o = o.withDefaults()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Report{}, err
	}
	marker, err := datadir.ReadMarker(o.FS, dir)
	if err != nil {
		return Report{}, err
	}
	if marker != datadir.Ready {
		return Report{}, fmt.Errorf("%w: there is no store in %s", ErrForeign, dir)
	}
	sub := o.FS.PathJoin(dir, datadir.EngineDir)
	if _, err := o.FS.Stat(sub); err != nil {
		return Report{}, missingLogError(dir)
	}
	lock, err := lockDir(dir, sub, o)
	if err != nil {
		return Report{}, err
	}
	defer lock.Close()
	if err := datadir.CheckTail(o.FS, sub); err != nil {
		return Report{}, openError(dir, err)
	}
	po := pebbleOptions(o, guard.New(o.FS, func(error) {}), lock, true)
	po.ReadOnly = true
	db, err := pebble.Open(sub, po)
	if err != nil {
		return Report{}, openError(dir, err)
	}
	e := &engine{db: db, progress: progress}
	img, err := e.load()
	if err == nil {
		err = errors.Join(datadir.CheckWitness(o.FS, dir, img.rev), db.CheckLevels(nil))
	}
	r := Report{DiskBytes: e.diskUsage()}
	if err := errors.Join(err, db.Close()); err != nil {
		return Report{}, openError(dir, err)
	}
	r.Revision, r.Compacted, r.Keys = img.rev, img.compacted, img.live.keys
	r.Events, r.Leases = img.log.end-img.log.first, int64(len(img.leases.ByID))
	r.LiveBytes = uint64(img.live.bytes)
	if each != nil {
		img.tree.Scan(func(_ string, e *entry) bool {
			if kv := e.head.Load().live(); kv != nil {
				each(kv)
			}
			return true
		})
	}
	return r, nil
}
