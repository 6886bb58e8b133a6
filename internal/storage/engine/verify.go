package engine

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

// Verify reads all of a directory that no process has open, without changing it: every checksum,
// every record, the order and the completeness of the log, which Open checks too, and also the
// order of Pebble's tables. It returns the content and the size of the directory.
func Verify(dir string, o Options) (*Image, uint64, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, 0, err
	}
	marker, err := datadir.ReadMarker(o.FS, dir)
	if err != nil {
		return nil, 0, err
	}
	if marker != datadir.Ready {
		return nil, 0, fmt.Errorf("%w: there is no store in %s", datadir.ErrForeign, dir)
	}
	sub := o.FS.PathJoin(dir, datadir.EngineDir)
	if _, err := o.FS.Stat(sub); err != nil {
		return nil, 0, missingLogError(dir)
	}
	lock, err := lockDir(dir, sub, o)
	if err != nil {
		return nil, 0, err
	}
	defer lock.Close()
	if err := datadir.CheckTail(o.FS, sub); err != nil {
		return nil, 0, openError(dir, err)
	}
	po := pebbleOptions(o, guard.New(o.FS, func(error) {}), lock, true)
	po.ReadOnly = true
	db, err := pebble.Open(sub, po)
	if err != nil {
		return nil, 0, openError(dir, err)
	}
	e := &Engine{db: db, progress: o.Progress}
	img, err := e.load()
	if err == nil {
		err = errors.Join(datadir.CheckWitness(o.FS, dir, img.Rev), db.CheckLevels(nil))
	}
	disk := e.DiskUsage()
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, 0, openError(dir, err)
	}
	return img, disk, nil
}
