package engine

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

func lockDir(dir, sub string, o Options) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(sub, o.FS)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		err = fmt.Errorf("%w: another process has %s open; stop it or choose another directory (%w)", datadir.ErrInUse, dir, err)
	}
	return lock, err
}

// create makes a new engine directory and closes it again. A log file that is begun after Pebble
// has settled on its format notes how far it is synced, by which damage can be told from a torn
// end; the first log file of a directory does not.
func create(dir, sub string, o Options, lock *pebble.Lock) error {
	return createWith(dir, sub, o, lock, func(*pebble.DB) error { return nil })
}

// createWith also writes records into it.
func createWith(dir, sub string, o Options, lock *pebble.Lock, fill func(*pebble.DB) error) error {
	g := guard.New(o.FS, nil)
	err := g.Attempt(func() error {
		db, err := pebble.Open(sub, pebbleOptions(o, g, lock, false))
		if err != nil {
			return err
		}
		err = errors.Join(db.Set(formatKey, uint64Value(datadir.FormatVersion), pebble.NoSync), fill(db))
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return err
	}
	return datadir.WriteMarker(o.FS, dir, datadir.Ready)
}
