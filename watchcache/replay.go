package watchcache

import (
	"errors"

	"fairlead.dev/storage"
)

// replay brings a watcher from its start to the point where its topic takes
// over. It reads from the cache's ring or, where that does not reach, from the
// store.
type replay struct {
	matcher matcher
	// from and to are positions in the ring.
	from, to uint64
	// cursor reads the store up to the revision until; queue is what it gave
	// that has not been looked at.
	cursor storage.Cursor
	closed chan struct{}
	until  storage.Revision
	queue  []storage.Event
	seen   storage.Revision
	// before are, by key, the last readable states of objects that cannot be read
	// where the replay stands; nil for one that nobody knows.
	before map[string]*Object
}

// maxReplayed bounds the changes that one Next looks at.
const maxReplayed = 4096

// replayStore opens the store after a revision.
func (c *Cache) replayStore(m matcher, after, until storage.Revision) (*replay, error) {
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

// hear rings w for the store's cursor, until the replay is closed.
func (r *replay) hear(w *Watcher) {
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

// idle says that what is to come is the store's to ring for.
func (r *replay) idle() bool { return r.cursor != nil && len(r.queue) == 0 }

func (r *replay) close() {
	if r.cursor != nil {
		r.cursor.Close()
		close(r.closed)
	}
}

// next returns the events of some changes, the revision up to which that is
// everything, and whether more is to come.
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
	case r.from < c.mu.ring.first:
		err = w.expired()
	default:
		view = c.mu.ring.view(r.from)[:r.to-r.from]
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

// enough says whether one Next has looked at enough, unless it is in the middle
// of a transaction.
func (r *replay) enough(changes int, events []Event) bool {
	return changes >= maxReplayed || len(events) >= maxEvents
}

// add appends the event that a change is to the selection. A lapse that is over by now,
// as each is that a replay meets, is passed over.
func (r *replay) add(events []Event, ch *change) []Event {
	if f := r.matcher.filter; f == nil || !f.readable {
		if ch.new != nil && !ch.new.readable() {
			return events
		}
		if ch.old != nil && !ch.old.readable() {
			over := *ch
			over.old = ch.was
			ch = &over
		}
	}
	if ev, ok := edge(ch, r.matcher.match(ch.old), r.matcher.match(ch.new)); ok {
		events = append(events, ev)
	}
	return events
}

// lapse completes a change that was read from the store with the state before the lapse
// that it ends.
func (r *replay) lapse(ch *change) {
	key := ch.any().Key()
	if ch.old != nil && !ch.old.readable() {
		ch.was = r.before[key]
	}
	switch {
	case ch.new == nil || ch.new.readable():
		delete(r.before, key)
	case ch.old == nil || ch.old.readable():
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
