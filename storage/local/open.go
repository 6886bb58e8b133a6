package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

// openEngine opens or creates dir and loads its content. failed is called for writes that fail once
// it is open.
func openEngine(dir string, o Options, failed func(error)) (_ *engine, _ *image, err error) {
	// The lock of a directory is known by its absolute name.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	marker, err := datadir.ReadMarker(o.FS, dir)
	if err != nil {
		return nil, nil, err
	}
	sub := o.FS.PathJoin(dir, datadir.EngineDir)
	switch _, err := o.FS.Stat(sub); {
	case marker == datadir.Ready && errors.Is(err, fs.ErrNotExist):
		return nil, nil, missingLogError(dir)
	case marker == "":
		if err := errors.Join(datadir.Make(o.FS, dir), datadir.WriteMarker(o.FS, dir, datadir.Creating)); err != nil {
			return nil, nil, err
		}
		fallthrough
	case marker == datadir.Creating:
		if err := datadir.Make(o.FS, sub); err != nil {
			return nil, nil, err
		}
	}
	lock, err := lockDir(dir, sub, o)
	if err != nil {
		return nil, nil, err
	}
	if marker != datadir.Ready {
		err = create(dir, sub, o, lock)
	}
	var e *engine
	var img *image
	if err == nil {
		e, img, err = open(dir, sub, o, lock, failed)
	}
	if err == nil {
		return e, img, nil
	}
	if !errors.Is(err, guard.ErrStuck) {
		lock.Close()
	}
	return nil, nil, openError(dir, err)
}

func lockDir(dir, sub string, o Options) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(sub, o.FS)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		err = fmt.Errorf("%w: another process has %s open; stop it or choose another directory (%w)", ErrInUse, dir, err)
	}
	return lock, err
}

// openError describes in one line the problem of dir.
func openError(dir string, err error) error {
	switch {
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return missingLogError(dir)
	case errors.Is(err, errRecord) || errors.Is(err, datadir.ErrTail) || errors.Is(err, datadir.ErrLogTooShort) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, pebble.ErrDBNotPristine) || pebble.IsCorruptionError(err):
		return corruptError(dir, err)
	}
	return fmt.Errorf("opening %s: %w", dir, err)
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

// open opens a complete engine directory, and loads it.
func open(dir, sub string, o Options, lock *pebble.Lock, failed func(error)) (*engine, *image, error) {
	if err := datadir.CheckTail(o.FS, sub); err != nil {
		return nil, nil, err
	}
	if err := removeTemps(o.FS, sub); err != nil {
		return nil, nil, err
	}
	g := guard.New(o.FS, failed)
	po := pebbleOptions(o, g, lock, true)
	e := &engine{dir: sub, options: po, guard: g, lock: lock, sync: pebble.NoSync}
	if o.Fsync == FsyncAlways {
		e.sync = pebble.Sync
	}
	var img *image
	err := g.Attempt(func() (err error) {
		if e.db, err = pebble.Open(sub, po); err != nil {
			return err
		}
		if img, err = e.load(); err == nil {
			err = datadir.CheckWitness(g, dir, img.rev)
		}
		var lost datadir.LostEnd
		torn := errors.As(err, &lost) && o.AcceptTornTail
		if err == nil || torn {
			e.witness, err = datadir.OpenWitness(g, dir)
		}
		if err == nil && torn {
			o.Logger.Warn("opened without the end of the log: acknowledged writes are lost, and their revisions are given again",
				"directory", dir, "endsAt", lost.Ends, "acknowledged", lost.Acknowledged, "lostRevisions", lost.Acknowledged-lost.Ends)
			err = e.witness.Forget(img.rev)
		}
		if err == nil {
			err = datadir.Sync(g, dir)
		}
		if err != nil {
			err = errors.Join(err, e.db.Close())
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	g.Armed.Store(true)
	return e, img, nil
}

func missingLogError(dir string) error {
	return fmt.Errorf("%w: the log of %s is gone; restore the directory from a snapshot, or empty it to begin anew", ErrCorrupt, dir)
}

func corruptError(dir string, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	if errors.Is(err, datadir.ErrLogTooShort) {
		return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot, or open what is left with --accept-torn-tail (%s)", ErrCorrupt, dir, why)
	}
	return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot (%s)", ErrCorrupt, dir, why)
}
