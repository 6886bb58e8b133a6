package engine

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A tableWriter writes tables for Pebble to ingest.
type tableWriter struct {
	engine *Engine
	open   *sstable.Writer
	paths  []string
}

// cleanName is the name of their files until then.
const cleanName = "clean-%d.tmp"

func (w *tableWriter) add(key, value []byte) error {
	if w.open == nil {
		e := w.engine
		path := e.guard.PathJoin(e.dir, fmt.Sprintf(cleanName, len(w.paths)))
		f, err := e.guard.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		w.paths = append(w.paths, path)
		w.open = sstable.NewWriter(objstorageprovider.NewFileWritable(f), e.options.MakeWriterOptions(len(e.options.Levels)-1, e.db.TableFormat()))
	}
	if err := w.open.Set(key, value); err != nil {
		return err
	}
	if w.open.Raw().EstimatedSize() < 2*segmentMax {
		return nil
	}
	return w.finish()
}

func (w *tableWriter) finish() error {
	if w.open == nil {
		return nil
	}
	err := w.open.Close()
	w.open = nil
	return err
}

// discard removes the files that were not ingested.
func (w *tableWriter) discard() error {
	if w.open != nil {
		w.open.Close()
	}
	var err error
	for _, path := range w.paths {
		err = errors.Join(err, w.engine.guard.Remove(path))
	}
	return err
}

// removeTemps removes the files of a tableWriter that a crash left.
func removeTemps(f vfs.FS, dir string) error {
	names, err := f.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		var n int
		if _, no := fmt.Sscanf(name, cleanName, &n); no == nil {
			err = errors.Join(err, f.Remove(f.PathJoin(dir, name)))
		}
	}
	return err
}
