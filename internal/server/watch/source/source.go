package source

import (
	"errors"
	"time"

	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// A Source yields the events of a stream, turn by turn. A turn is one call for frames: it begins with
// Begin and ends with End.
type Source interface {
	// Begin begins a turn. ready is false if it may not even show the state that the watch
	// begins with. With http.ErrAbortHandler the stream is cut off.
	Begin() (ready bool, err error)
	// Next returns the next events that may be shown, none if there are none now. progress is
	// the revision up to which there are no others, 0 if that is not known. ErrHeld ends the turn
	// early; io.EOF ends the watch without an error.
	Next() (events []watchcache.Event, progress storage.Revision, err error)
	// Shown is called with the events of the turn that have been framed.
	Shown(events []watchcache.Event)
	// End ends a turn. All of its frames were made at now; zero is the present.
	End(now time.Time)
	// Flushed is called when all frames have been written; at is that time, zero for the present.
	Flushed(at time.Time)
	Close()
}

// ErrHeld ends a turn early: events wait for definitions to settle.
var ErrHeld = errors.New("definitions are settling")

// A Cursor is the source that reads the watch cache.
type Cursor struct {
	From *watchcache.Watcher
	// Sent counts the watchers that fell behind the kept history.
	Sent *metrics.WatchCounters
}

// Begin implements Source.
func (Cursor) Begin() (bool, error) { return true, nil }

// Next implements Source.
func (c Cursor) Next() ([]watchcache.Event, storage.Revision, error) {
	events, progress, err := c.From.Next()
	if errors.Is(err, storage.ErrCompacted) {
		c.Sent.Dropped.Inc() // it has not read for too long
	}
	return events, progress, err
}

// Shown implements Source.
func (Cursor) Shown([]watchcache.Event) {}

// End implements Source.
func (Cursor) End(time.Time) {}

// Flushed implements Source.
func (Cursor) Flushed(time.Time) {}

// Close implements Source: it closes the watcher.
func (c Cursor) Close() { c.From.Close() }
