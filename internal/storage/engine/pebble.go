package engine

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"fairlead.dev/internal/storage/guard"
)

// memtableSize is the size at which Pebble flushes a memtable by itself.
const memtableSize = 8 << 20

// pebbleOptions configures Pebble for a log that is read once: a minimal cache, and a memtable that
// begins small (Pebble doubles it from 256 KB as it fills) so that an idle store stays small.
func pebbleOptions(o Options, g *guard.FS, lock *pebble.Lock, exists bool) *pebble.Options {
	po := &pebble.Options{
		FS:                          g,
		Lock:                        lock,
		ErrorIfNotExists:            exists,
		FormatMajorVersion:          pebble.FormatValueSeparation,
		MemTableSize:                memtableSize,
		MemTableStopWritesThreshold: 2,
		DisableAutomaticCompactions: true, // see clean.go
		L0StopWritesThreshold:       1 << 30,
		CacheSize:                   1 << 20,
		MaxOpenFiles:                128,
		Logger:                      logger{o.Logger, g.Fail},
		EventListener:               listener(o.Logger, g),
	}
	po.Experimental.SpanPolicyFunc = splitMeta
	for i := range po.Levels {
		// Tables are read from one end to the other. Objects are much like their neighbours, and
		// only a large block holds neighbours.
		po.Levels[i].BlockSize = 64 << 10
		po.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.MinLZCompression }
	}
	po.EnsureDefaults()
	return po
}

// splitMeta ends tables of the log where the other records begin, so that every table of the log is
// a range of revisions.
func splitMeta(start []byte) (p pebble.SpanPolicy, end []byte, err error) {
	if start[0] < metaPrefix {
		end = []byte{metaPrefix}
	}
	return p, end, nil
}

// logger writes Pebble's messages to slog.
type logger struct {
	log    *slog.Logger
	failed func(error)
}

func (l logger) Infof(format string, args ...any)  { l.log.Debug(fmt.Sprintf(format, args...)) }
func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

// Fatalf is called where Pebble cannot continue, and must not return. The store must continue: its
// readers are unharmed. So the calling goroutine, with all locks that it holds, blocks here
// forever, and the store is read-only.
func (l logger) Fatalf(format string, args ...any) {
	f := fatal{text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.cause = err
		}
	}
	l.failed(f)
	select {}
}

// A fatal is an error whose text already includes its cause.
type fatal struct {
	text  string
	cause error
}

func (f fatal) Error() string { return f.text }
func (f fatal) Unwrap() error { return f.cause }

// listener reports failures in the background. Pebble retries a failed flush again and again while
// commits hang behind it, so the failure must be reported.
func listener(log *slog.Logger, g *guard.FS) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if !errors.Is(err, pebble.ErrCancelledCompaction) {
				g.Fail(err)
			}
		},
		TableDeleted: func(pebble.TableDeleteInfo) { g.TableDeleted() },
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			if g.Armed.Load() { // Open returns it anyway
				g.Fail(fmt.Errorf("%s", info))
			}
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			if !g.Broken.Load() {
				log.Warn(info.String())
			}
		},
	}
}
