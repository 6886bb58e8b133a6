package watchcache

import (
	"errors"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

// A replay brings a watcher from its start to the point at which its topic takes over. It reads
// from the cache's ring or, before the ring's first change, from the store.
type replay struct {
	matcher selection.Matcher
	// from and to are positions in the ring.
	from, to uint64
	// cursor reads the store up to the revision until; queue holds its events that are not yet
	// examined.
	cursor storage.Cursor
	closed chan struct{}
	until  storage.Revision
	queue  []storage.Event
	seen   storage.Revision
	// before holds, by key, the last readable states of objects that are unreadable at the replay's
	// position; nil for an unknown one.
	before map[string]*Object
}

// maxReplayed bounds the changes that one Next examines.
const maxReplayed = 4096

// replayStore opens the store after a revision.
func (c *Cache) replayStore(m selection.Matcher, after, until storage.Revision) (*replay, error) {
	if after < c.hub.store.Compacted() {
		return nil, storage.ErrCompacted
	}
	cursor, err := c.hub.store.Watch(c.opts.Prefix, storage.PrefixEnd(c.opts.Prefix), after)
	if err != nil {
		return nil, err
	}
	cursor.Want(until)
	return &replay{matcher: m, cursor: cursor, closed: make(chan struct{}), until: until, seen: after}, nil
}

// relayBell rings w whenever the store's cursor rings, until the replay is closed.
func (r *replay) relayBell(w *Watcher) {
	bell := r.cursor.Bell()
	for {
		select {
		case <-bell:
			w.ring()
		case <-r.closed:
			return
		}
	}
}

// idle reports whether the next events come from the store, which rings for them.
func (r *replay) idle() bool { return r.cursor != nil && len(r.queue) == 0 }

func (r *replay) close() {
	if r.cursor != nil {
		r.cursor.Close()
		close(r.closed)
	}
}

// next returns the events of some changes, the revision up to which they are complete, and whether
// more will come.
func (r *replay) next(w *Watcher) (events []Event, progress storage.Revision, more bool, err error) {
	if r.cursor != nil {
		return r.nextOfStore(w)
	}
	c := w.cache
	c.mu.RLock()
	var view []change
	switch {
	case w.topic.err != nil:
		err = w.topic.err
	case w.slot < 0:
		err = storage.ErrClosed
	case r.from < c.mu.ring.First():
		err = w.expired()
	default:
		view = c.mu.ring.View(r.from)[:r.to-r.from]
	}
	c.mu.RUnlock()
	if err != nil {
		return nil, 0, false, err
	}
	n := 0
	for ; n < len(view); n++ {
		if r.enough(n, events) && view[n].rev != view[n-1].rev {
			break
		}
		events = r.add(events, &view[n])
	}
	r.from += uint64(n)
	if n == len(view) {
		if n > 0 {
			progress = view[n-1].rev
		}
		return events, progress, false, nil
	}
	return events, view[n].rev - 1, true, nil
}

// enough reports whether one Next has examined enough, regardless of transactions.
func (r *replay) enough(changes int, events []Event) bool {
	return changes >= maxReplayed || len(events) >= maxEvents
}

// add appends the event by which the selection sees a change. Each lapse that a replay meets is
// over by now and is skipped.
func (r *replay) add(events []Event, ch *change) []Event {
	if !r.matcher.Filter.SkipsUnreadable() {
		if ch.new != nil && !object.Readable(ch.new) {
			return events
		}
		if ch.old != nil && !object.Readable(ch.old) {
			over := *ch
			over.old = ch.lastReadable
			ch = &over
		}
	}
	if ev, ok := eventOf(ch, r.matcher.Match(ch.old), r.matcher.Match(ch.new)); ok {
		events = append(events, ev)
	}
	return events
}

// lapse completes a change that was read from the store with the last readable state before the
// lapse that it ends.
func (r *replay) lapse(ch *change) {
	key := ch.either().Key()
	if ch.old != nil && !object.Readable(ch.old) {
		ch.lastReadable = r.before[key]
	}
	switch {
	case ch.new == nil || object.Readable(ch.new):
		delete(r.before, key)
	case ch.old == nil || object.Readable(ch.old):
		if r.before == nil {
			r.before = map[string]*Object{}
		}
		r.before[key] = ch.old
	}
}

func (r *replay) nextOfStore(w *Watcher) (events []Event, progress storage.Revision, more bool, err error) {
	if _, err := w.pending(); err != nil {
		return nil, 0, false, err
	}
	c := w.cache
	if len(r.queue) == 0 {
		b, err := r.cursor.Next()
		if errors.Is(err, storage.ErrCompacted) {
			c.expired.Add(1)
		}
		if err != nil {
			return nil, 0, false, err
		}
		r.queue, r.seen = b.Events, max(r.seen, b.Progress)
	}
	n := 0
	for ; n < len(r.queue); n++ {
		ev := &r.queue[n]
		if r.enough(n, events) && ev.Revision() != r.queue[n-1].Revision() {
			break
		}
		if ev.Revision() > r.until {
			return events, r.until, false, nil
		}
		ch := change{rev: ev.Revision()}
		if ev.Type == storage.Put {
			ch.new = c.object(ev.KV)
		}
		if ev.Prev != nil {
			ch.old = c.object(ev.Prev)
		}
		r.lapse(&ch)
		events = r.add(events, &ch)
	}
	if r.queue = r.queue[n:]; len(r.queue) > 0 {
		return events, r.queue[0].Revision() - 1, true, nil
	}
	return events, r.seen, r.seen < r.until, nil
}
