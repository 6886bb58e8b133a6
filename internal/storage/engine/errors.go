package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/internal/storage/datadir"
)

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

func missingLogError(dir string) error {
	return fmt.Errorf("%w: the log of %s is gone; restore the directory from a snapshot, or empty it to begin anew", datadir.ErrCorrupt, dir)
}

func corruptError(dir string, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	if errors.Is(err, datadir.ErrLogTooShort) {
		return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot, or open what is left with --accept-torn-tail (%s)", datadir.ErrCorrupt, dir, why)
	}
	return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot (%s)", datadir.ErrCorrupt, dir, why)
}
