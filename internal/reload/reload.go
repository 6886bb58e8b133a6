// Package reload notices changes of configuration files.
//
// # Contract
//
//   - A file has changed when its content has. A file that cannot be read has a content of its own, so that its
//     return is a change too.
//   - A change is noticed by the events of the file system in the file's directory, and once a minute without them,
//     such as on a network file system. A directory that is replaced by way of a link, as those of mounted ConfigMaps
//     and Secrets, is a change as well.
//   - An error of load is reported once. After a [LaterError] the files are loaded again once a minute.
//
// # Concurrency
//
// The methods of a Watcher are called from one goroutine at a time.
package reload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollEvery is how often files are read without an event.
const pollEvery = time.Minute

// Watcher notices changes of files.
type Watcher struct {
	files []string
	sum   [sha256.Size]byte
	// every is how often files are read without an event.
	every time.Duration
}

// New returns a Watcher of the files as they are. Call it before the files are read for the first time, so that no
// change is missed.
func New(files ...string) *Watcher {
	w := &Watcher{files: files, every: pollEvery}
	w.changed()
	return w
}

// A LaterError is the error of a load that may succeed later without a change of the files.
type LaterError struct{ Err error }

func (e LaterError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e LaterError) Unwrap() error { return e.Err }

// Run calls load after each change until ctx ends, and reports its results. After an error what was loaded before stays in
// force: load must leave it alone.
func (w *Watcher) Run(ctx context.Context, load func() error, report func(error)) {
	events := make(chan fsnotify.Event)
	if notifier, err := fsnotify.NewWatcher(); err == nil {
		defer notifier.Close()
		events = notifier.Events
		for _, f := range w.files {
			_ = notifier.Add(filepath.Dir(f)) // an error leaves the file to the ticker
		}
	}
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	later, due := false, false
	for {
		changed := w.changed()
		if changed || due {
			err := load()
			was := later
			later = errors.As(err, new(LaterError))
			if changed || !was || err == nil {
				report(err)
			}
		}
		due = false
		select {
		case <-ctx.Done():
			return
		case <-events:
		case <-tick.C:
			due = later
		}
	}
}

// changed reports whether a file has changed since the last call.
func (w *Watcher) changed() bool {
	all := sha256.New()
	for _, f := range w.files {
		content, err := os.ReadFile(f)
		fmt.Fprintf(all, "%d %t\n", len(content), err == nil)
		all.Write(content)
	}
	before := w.sum
	copy(w.sum[:], all.Sum(nil))
	return w.sum != before
}
