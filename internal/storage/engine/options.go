package engine

import (
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure Open; FS and Logger must be set.
type Options struct {
	// FS is the file system.
	FS vfs.FS
	// Logger logs the work of Pebble (debug) and failures (error).
	Logger *slog.Logger
	// Sync syncs each group that must survive a crash before Commit returns.
	Sync bool
	// AcceptTornTail opens a directory whose log ends before the last acknowledged commit, which is
	// reported to Logger.
	AcceptTornTail bool
	// Progress, if not nil, is called from time to time: by Open and Verify with the revisions read, by Restore with the keys
	// written, and the total of each.
	Progress func(done, total int64)
}
