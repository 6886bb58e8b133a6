package local

import (
	"errors"
	"os"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/internal/storage/guard"
)

// OutOfSpace reports whether a store failed because there was no room for a write. Then all data on
// disk is intact, and the store can be opened again when there is room. It is false for every
// failed sync.
func OutOfSpace(err error) bool {
	return !errors.Is(err, guard.ErrSync) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT))
}

// roomToReopen is the room that a store should have to be opened again: a few log files.
const roomToReopen = 4 << 20

// HasRoom reports whether some MiB can be written to dir. It writes them, since only a write
// reveals a quota.
func HasRoom(dir string) bool {
	if u, err := vfs.Default.GetDiskUsage(dir); err != nil || u.AvailBytes < 2*roomToReopen {
		return false
	}
	f, err := os.CreateTemp(dir, "room-*.tmp")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, roomToReopen))
	return errors.Join(err, f.Sync(), f.Close()) == nil
}
