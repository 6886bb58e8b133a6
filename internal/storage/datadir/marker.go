package local

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
	// dirForeign: the directory holds something else, or was written by a newer version.
	dirForeign = errors.New("not a data directory of this version")
	// dirCorrupt: the directory is ours, but its content is damaged.
	dirCorrupt = errors.New("data directory is corrupt")
)

// formatVersion is the version of the format of the directory.
const formatVersion = 1

// The marker is a small text file that names the owner of the directory, so that a foreign
// directory is never opened or written to. It is written twice: as "creating" before the engine's
// directory is made, and as "ready" once that is complete, so that an engine directory that was
// lost can be told from one that never existed.
const (
	markerName  = "FAIRLEAD"
	markerTemp  = "FAIRLEAD.tmp"
	engineDir   = "log"
	markerLine  = "fairlead store, format "
	markerNew   = "creating"
	markerReady = "ready"
)

func markerText(state string) string {
	return fmt.Sprintf("%s%d, %s\n", markerLine, formatVersion, state)
}

// readMarker returns the marker of dir, "" if dir is missing or empty.
func readMarker(f vfs.FS, dir string) (state string, err error) {
	names, err := f.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	ours := false
	for _, name := range names {
		ours = ours || name == markerName
	}
	if !ours {
		for _, name := range names {
			if name != markerTemp && name != "lost+found" {
				return "", fmt.Errorf("%w: %s holds %q and no %s file; choose an empty directory", dirForeign, dir, name, markerName)
			}
		}
		return "", nil
	}
	text, err := readFile(f, f.PathJoin(dir, markerName))
	if err != nil {
		return "", err
	}
	switch text {
	case markerText(markerNew):
		return markerNew, nil
	case markerText(markerReady):
		return markerReady, nil
	}
	if strings.HasPrefix(text, markerLine) {
		return "", fmt.Errorf("%w: %s was written as %q and this version reads format %d; use the version that wrote it",
			dirForeign, dir, strings.TrimSpace(text), formatVersion)
	}
	return "", fmt.Errorf("%w: the file %s of %s is damaged; restore the directory from a snapshot", dirCorrupt, markerName, dir)
}

// writeMarker replaces the marker durably.
func writeMarker(f vfs.FS, dir, state string) error {
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
	if err := f.Rename(temp, f.PathJoin(dir, markerName)); err != nil {
		return err
	}
	return syncDir(f, dir)
}

// makeDir creates dir and its missing parents, durably.
func makeDir(f vfs.FS, dir string) error {
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
		if err := syncDir(f, d); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(f vfs.FS, dir string) error {
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
