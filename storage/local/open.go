package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// openEngine opens or creates dir and loads its content. failed is called for writes that fail once
// it is open.
func openEngine(dir string, o Options, failed func(error)) (_ *engine, _ *image, err error) {
	// The lock of a directory is known by its absolute name.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	marker, err := readMarker(o.FS, dir)
	if err != nil {
		return nil, nil, err
	}
	sub := o.FS.PathJoin(dir, engineDir)
	switch _, err := o.FS.Stat(sub); {
	case marker == markerReady && errors.Is(err, fs.ErrNotExist):
		return nil, nil, missingLogError(dir)
	case marker == "":
		if err := errors.Join(makeDir(o.FS, dir), writeMarker(o.FS, dir, markerNew)); err != nil {
			return nil, nil, err
		}
		fallthrough
	case marker == markerNew:
		if err := makeDir(o.FS, sub); err != nil {
			return nil, nil, err
		}
	}
	lock, err := lockDir(dir, sub, o)
	if err != nil {
		return nil, nil, err
	}
	if marker != markerReady {
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
	if !errors.Is(err, errStuck) {
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
	case errors.Is(err, errRecord) || errors.Is(err, errTail) || errors.Is(err, errLogTooShort) ||
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
	g := newGuard(o.FS, nil)
	err := g.attempt(func() error {
		db, err := pebble.Open(sub, pebbleOptions(o, g, lock, false))
		if err != nil {
			return err
		}
		err = errors.Join(db.Set(formatKey, uint64Value(formatVersion), pebble.NoSync), fill(db))
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return err
	}
	return writeMarker(o.FS, dir, markerReady)
}

// open opens a complete engine directory, and loads it.
func open(dir, sub string, o Options, lock *pebble.Lock, failed func(error)) (*engine, *image, error) {
	if err := checkTail(o.FS, sub); err != nil {
		return nil, nil, err
	}
	if err := removeTemps(o.FS, sub); err != nil {
		return nil, nil, err
	}
	g := newGuard(o.FS, failed)
	po := pebbleOptions(o, g, lock, true)
	e := &engine{dir: sub, options: po, guard: g, lock: lock, sync: pebble.NoSync}
	if o.Fsync == FsyncAlways {
		e.sync = pebble.Sync
	}
	var img *image
	err := g.attempt(func() (err error) {
		if e.db, err = pebble.Open(sub, po); err != nil {
			return err
		}
		if img, err = e.load(); err == nil {
			err = checkWitness(g, dir, img.rev)
		}
		var lost lostEnd
		torn := errors.As(err, &lost) && o.AcceptTornTail
		if err == nil || torn {
			e.witness, err = openWitness(g, dir)
		}
		if err == nil && torn {
			o.Logger.Warn("opened without the end of the log: acknowledged writes are lost, and their revisions are given again",
				"directory", dir, "endsAt", lost.ends, "acknowledged", lost.acknowledged, "lostRevisions", lost.acknowledged-lost.ends)
			err = e.witness.forget(img.rev)
		}
		if err == nil {
			err = syncDir(g, dir)
		}
		if err != nil {
			err = errors.Join(err, e.db.Close())
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	g.armed.Store(true)
	return e, img, nil
}

func missingLogError(dir string) error {
	return fmt.Errorf("%w: the log of %s is gone; restore the directory from a snapshot, or empty it to begin anew", ErrCorrupt, dir)
}

func corruptError(dir string, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	if errors.Is(err, errLogTooShort) {
		return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot, or open what is left with --accept-torn-tail (%s)", ErrCorrupt, dir, why)
	}
	return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot (%s)", ErrCorrupt, dir, why)
}
