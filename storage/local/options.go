package local

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"fairlead.dev/trace"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Fsync says when a commit is on disk.
type Fsync int

const (
	// FsyncAlways syncs before a commit is acknowledged: what was acknowledged
	// survives a crash of the process and of the machine.
	FsyncAlways Fsync = iota
	// FsyncInterval syncs every 100 ms: a crash of the process loses nothing
	// older than that, nor does a crash of the machine.
	FsyncInterval
	// FsyncNever leaves it to the operating system.
	FsyncNever
)

// Options for Open; the zero value is what most want.
type Options struct {
	// InMemory keeps nothing on disk; the directory is ignored.
	InMemory bool
	// History is how long superseded revisions can be read and watched: after it
	// they are compacted. 0 is DefaultHistory, below 0 is until Compact is called.
	History time.Duration
	// Fsync is when a commit is on disk.
	Fsync Fsync
	// NoSync names prefixes of keys that need not survive a crash of the machine: a
	// commit of nothing else is acknowledged before it is synced, which happens
	// with the next that must be, or within 100 ms. After such a crash the last
	// revisions may be missing, and be given again to other writes.
	NoSync []string
	// AcceptTornTail opens a store whose log ends before what was acknowledged. What is
	// missing is lost, and said to Logger; its revisions are given again to other writes,
	// so clients that have read them must list again.
	AcceptTornTail bool
	// FS is the file system; nil is the machine's.
	FS vfs.FS
	// Trace is told when revisions are synced and published; nil is nobody.
	Trace *trace.Log
	// Logger hears what the engine does (debug) and what fails (error); nil is
	// silence.
	Logger *slog.Logger
}

// DefaultHistory is how long superseded revisions are kept.
const DefaultHistory = 5 * time.Minute

// syncInterval is the pace of FsyncInterval.
const syncInterval = 100 * time.Millisecond

// Errors of Open. Each is wrapped in one line that says what was found and what
// to do; nothing in the directory was changed.
var (
	// ErrInUse: another process, or another Store of this one, has the directory.
	ErrInUse = errors.New("data directory is in use")
	// ErrForeign: the directory holds something else, or was written by a newer
	// version.
	ErrForeign = errors.New("not a data directory of this version")
	// ErrExists: the directory to restore into holds a store.
	ErrExists = errors.New("holds a store already")
	// ErrCorrupt: the directory is ours, but what it holds cannot be trusted.
	ErrCorrupt = errors.New("data directory is corrupt")
)

// relaxed says whether a key need not be synced.
func (o *Options) relaxed(key string) bool {
	for _, p := range o.NoSync {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

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
