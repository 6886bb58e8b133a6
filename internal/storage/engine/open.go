package engine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

// Open opens or creates dir and loads its content. failed is called for writes that fail once it is
// open.
func Open(dir string, o Options, failed func(error)) (_ *Engine, _ *Image, err error) {
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
	var e *Engine
	var img *Image
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

// open opens a complete engine directory, and loads it.
func open(dir, sub string, o Options, lock *pebble.Lock, failed func(error)) (*Engine, *Image, error) {
	if err := datadir.CheckTail(o.FS, sub); err != nil {
		return nil, nil, err
	}
	if err := removeTemps(o.FS, sub); err != nil {
		return nil, nil, err
	}
	g := guard.New(o.FS, failed)
	po := pebbleOptions(o, g, lock, true)
	e := &Engine{dir: sub, options: po, progress: o.Progress, guard: g, lock: lock, sync: pebble.NoSync}
	if o.Sync {
		e.sync = pebble.Sync
	}
	var img *Image
	err := g.Attempt(func() (err error) {
		if e.db, err = pebble.Open(sub, po); err != nil {
			return err
		}
		if img, err = e.load(); err == nil {
			err = datadir.CheckWitness(g, dir, img.Rev)
		}
		var lost datadir.LostEnd
		torn := errors.As(err, &lost) && o.AcceptTornTail
		if err == nil || torn {
			e.witness, err = datadir.OpenWitness(g, dir)
		}
		if err == nil && torn {
			o.Logger.Warn("opened without the end of the log: acknowledged writes are lost, and their revisions are given again",
				"directory", dir, "endsAt", lost.Ends, "acknowledged", lost.Acknowledged, "lostRevisions", lost.Acknowledged-lost.Ends)
			err = e.witness.Forget(img.Rev)
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
	e.kept.Store(img.kept)
	return e, img, nil
}
