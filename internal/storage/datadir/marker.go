package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Errors of a data directory.
var (
	// ErrForeign: the directory holds something else, or was written by a newer version.
	ErrForeign = errors.New("not a data directory of this version")
	// ErrCorrupt: the directory is ours, but its content is damaged.
	ErrCorrupt = errors.New("data directory is corrupt")
	// ErrInUse: another process, or another store of this one, has the directory open.
	ErrInUse = errors.New("data directory is in use")
	// ErrExists: the directory to restore into holds a store.
	ErrExists = errors.New("holds a store already")
)

// FormatVersion is the version of the format of the directory.
const FormatVersion = 1

// The marker is a small text file that names the owner of the directory, so that a foreign
// directory is never opened or written to. It is written twice: as "creating" before the engine's
// directory is made, and as "ready" once that is complete, so that an engine directory that was
// lost can be told from one that never existed.
const (
	MarkerName = "FAIRLEAD"
	markerTemp = "FAIRLEAD.tmp"
	EngineDir  = "log"
	markerLine = "fairlead store, format "
	Creating   = "creating"
	Ready      = "ready"
)

func markerText(state string) string {
	return fmt.Sprintf("%s%d, %s\n", markerLine, FormatVersion, state)
}

// ReadMarker returns the marker of dir, "" if dir is missing or empty.
func ReadMarker(f vfs.FS, dir string) (state string, err error) {
	names, err := f.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	ours := false
	for _, name := range names {
		ours = ours || name == MarkerName
	}
	if !ours {
		for _, name := range names {
			if name != markerTemp && name != "lost+found" {
				return "", fmt.Errorf("%w: %s holds %q and no %s file; choose an empty directory", ErrForeign, dir, name, MarkerName)
			}
		}
		return "", nil
	}
	text, err := readFile(f, f.PathJoin(dir, MarkerName))
	if err != nil {
		return "", err
	}
	switch text {
	case markerText(Creating):
		return Creating, nil
	case markerText(Ready):
		return Ready, nil
	}
	if strings.HasPrefix(text, markerLine) {
		return "", fmt.Errorf("%w: %s was written as %q and this version reads format %d; use the version that wrote it",
			ErrForeign, dir, strings.TrimSpace(text), FormatVersion)
	}
	return "", fmt.Errorf("%w: the file %s of %s is damaged; restore the directory from a snapshot", ErrCorrupt, MarkerName, dir)
}

// WriteMarker replaces the marker durably.
func WriteMarker(f vfs.FS, dir, state string) error {
	temp := f.PathJoin(dir, markerTemp)
	file, err := f.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, markerText(state))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := f.Rename(temp, f.PathJoin(dir, MarkerName)); err != nil {
		return err
	}
	return Sync(f, dir)
}

// Make creates dir and its missing parents, durably.
func Make(f vfs.FS, dir string) error {
	var above []string
	for d := dir; ; {
		if _, err := f.Stat(d); err == nil {
			break
		}
		up := f.PathDir(d)
		if up == d {
			break
		}
		above, d = append(above, up), up
	}
	if err := f.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range above {
		if err := Sync(f, d); err != nil {
			return err
		}
	}
	return nil
}

// Sync syncs a directory.
func Sync(f vfs.FS, dir string) error {
	d, err := f.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func readFile(f vfs.FS, name string) (string, error) {
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, 1024))
	return string(b), err
}
