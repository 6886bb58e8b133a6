package local

import (
	"log/slog"
	"time"

	"fairlead.dev/trace"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/engine"
)

// Fsync selects when a commit is on disk.
type Fsync int

const (
	// FsyncAlways syncs before a commit is acknowledged: acknowledged commits survive a crash of
	// the process and of the machine.
	FsyncAlways Fsync = iota
	// FsyncInterval syncs every 100 ms: a crash of the process or of the machine loses only the
	// commits since the last sync.
	FsyncInterval
	// FsyncNever leaves it to the operating system.
	FsyncNever
)

// Options configure Open; the zero value suits most programs.
type Options struct {
	// InMemory keeps all data off the disk; the directory is ignored.
	InMemory bool
	// History is how long superseded revisions can be read and watched before they are compacted. 0
	// is DefaultHistory, below 0 is until Compact is called.
	History time.Duration
	// MaxBytes limits the size of the existing keys and their values in a store in memory: a Commit that would exceed
	// it returns storage.ErrNoSpace. History is compacted early if the two together are larger. 0 is no limit.
	MaxBytes int64
	// Fsync selects when a commit is on disk.
	Fsync Fsync
	// NoSync lists prefixes of keys that need not survive a crash of the machine. A commit of only
	// such keys is acknowledged before it is synced; the sync follows with the next commit that
	// needs one, or within 100 ms. After such a crash the last revisions may be missing, and be
	// assigned again to other writes.
	NoSync []string
	// AcceptTornTail opens a store whose log ends before the last acknowledged commit. The missing
	// commits are lost, which is reported to Logger; their revisions are assigned again to other
	// writes, so clients that have read them must list again.
	AcceptTornTail bool
	// FS is the file system; nil is the machine's.
	FS vfs.FS
	// Progress, if not nil, is called from time to time: by Open and Verify with the revisions read, by Restore with the keys
	// written, and the total of each.
	Progress func(done, total int64)
	// Trace, if not nil, records when revisions are synced and published.
	Trace *trace.Log
	// Logger logs the engine's work (debug) and failures (error); nil discards them.
	Logger *slog.Logger
}

// DefaultHistory is how long superseded revisions are kept.
const DefaultHistory = 5 * time.Minute

// syncInterval is the pace of FsyncInterval.
const syncInterval = 100 * time.Millisecond

// Errors of Open. Each is wrapped in one line with the finding and the remedy; the directory was
// not changed.
var (
	// ErrInUse: another process, or another Store of this one, has the directory open.
	ErrInUse = datadir.ErrInUse
	// ErrForeign: the directory holds something else, or was written by a newer
	// version.
	ErrForeign = datadir.ErrForeign
	// ErrExists: the directory to restore into holds a store.
	ErrExists = datadir.ErrExists
	// ErrCorrupt: the directory is ours, but its content is damaged.
	ErrCorrupt = datadir.ErrCorrupt
)

func (o Options) withDefaults() Options {
	if o.History == 0 {
		o.History = DefaultHistory
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// engine returns the options of the engine.
func (o *Options) engine() engine.Options {
	return engine.Options{FS: o.FS, Logger: o.Logger, Sync: o.Fsync == FsyncAlways, AcceptTornTail: o.AcceptTornTail, Progress: o.Progress}
}
