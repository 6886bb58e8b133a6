package watchcache

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// A replay brings a watcher from its start to the point at which its topic takes over. It filters the
// changes that its source yields.
type replay struct {
	matcher selection.Matcher
	source  replaySource
}

// A replaySource holds the changes of a replay: the cache's history or, before its first change, the
// store.
type replaySource interface {
	// next returns the events of some changes, the revision up to which they are complete, and
	// whether more will come.
	next(r *replay, c *Cache, reader *topic.Reader) (events []Event, progress storage.Revision, more bool, err error)
	// idle reports whether the source rings the watcher's bell when it has more.
	idle() bool
	close()
}

const (
	// maxEvents bounds the events that Next returns at once, and with them the memory that a slow
	// reader holds. It does not split a transaction: a reader that saw half of it could not name
	// the revision at which to resume.
	maxEvents = 256
	// maxReplayed bounds the changes that one Next of a replay examines.
	maxReplayed = 4096
)

// enough reports whether one Next has examined enough, regardless of transactions.
func enough(changes int, events []Event) bool {
	return changes >= maxReplayed || len(events) >= maxEvents
}

// add appends the event by which the selection sees a change. Each lapse that a replay meets is
// over by now and is skipped.
func (r *replay) add(events []Event, ch *change.Change) []Event {
	if !r.matcher.Filter.SkipsUnreadable() {
		if ch.New != nil && !object.Readable(ch.New) {
			return events
		}
		if ch.Old != nil && !object.Readable(ch.Old) {
			over := *ch
			over.Old = ch.LastReadable
			ch = &over
		}
	}
	if ev, ok := ch.Event(r.matcher.Match(ch.Old), r.matcher.Match(ch.New)); ok {
		events = append(events, ev)
	}
	return events
}
