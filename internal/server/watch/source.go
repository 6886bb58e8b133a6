package watch

import (
	"errors"
	"time"

	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// source yields the events of a stream. The cursor is one; the others decorate a
// source: fence holds events back while definitions are settling, watchFaults while injected
// faults delay them, and watchTrace records them. A stream without definitions, faults or a
// trace has the cursor alone.
//
// A turn is one call of stream.next. It begins with begin and ends with end.
type source interface {
	// begin begins a turn. ready is false if it may not even show the state that the watch
	// begins with. With http.ErrAbortHandler the stream is cut off.
	begin() (ready bool, err error)
	// next returns the next events that may be shown, none if there are none now. progress is
	// the revision up to which there are no others, 0 if that is not known.
	next() (events []watchcache.Event, progress storage.Revision, err error)
	// shown is called with the events of the turn that have been framed.
	shown(events []watchcache.Event)
	// end ends a turn. All of its frames were made at now; zero is the present.
	end(now time.Time)
	// flushed is called when all frames have been written; at is that time, zero for the present.
	flushed(at time.Time)
	close()
}

// errHeld ends a turn early: events wait for definitions to settle.
var errHeld = errors.New("definitions are settling")

// cursor is the source that reads the watch cache.
type cursor struct {
	from *watchcache.Watcher
	sent *metrics.WatchCounters
}

func (cursor) begin() (bool, error) { return true, nil }

func (c cursor) next() ([]watchcache.Event, storage.Revision, error) {
	events, progress, err := c.from.Next()
	if errors.Is(err, storage.ErrCompacted) {
		c.sent.Dropped.Inc() // it has not read for too long
	}
	return events, progress, err
}

func (cursor) shown([]watchcache.Event) {}
func (cursor) end(time.Time)            {}
func (cursor) flushed(time.Time)        {}
func (c cursor) close()                 { c.from.Close() }
