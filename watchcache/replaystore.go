package watchcache

import (
	"errors"

	"fairlead.dev/internal/watchcache/bell"
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// A storeSource yields the changes that it reads from the store up to the revision until.
type storeSource struct {
	cursor storage.Cursor
	closed chan struct{}
	until  storage.Revision
	// queue holds the events that are not yet examined, seen the revision up to which the cursor
	// has been read.
	queue []storage.Event
	seen  storage.Revision
	// before holds, by key, the last readable states of objects that are unreadable at the source's
	// position; nil for an unknown one.
	before map[string]*Object
}

// replayStore returns a replay of the store's changes after a revision. Until it is closed, a
// goroutine rings the bell whenever the store's cursor rings.
func (c *Cache) replayStore(m *selection.Matcher, after, until storage.Revision, b *bell.Bell) (*replay, error) {
	if after < c.store.Compacted() {
		return nil, storage.ErrCompacted
	}
	prefix := c.resource.opts.Prefix
	cursor, err := c.store.Watch(storage.WatchRequest{Start: prefix, End: storage.PrefixEnd(prefix), After: after, Prev: true})
	if err != nil {
		return nil, err
	}
	cursor.Want(until)
	r := &struct { // one allocation
		replay
		storeSource
	}{replay{matcher: *m}, storeSource{cursor: cursor, closed: make(chan struct{}), until: until, seen: after}}
	r.source = &r.storeSource
	go r.relay(b)
	return &r.replay, nil
}

// relay rings b whenever the store's cursor rings, until the source is closed.
func (s *storeSource) relay(b *bell.Bell) {
	from := s.cursor.Bell()
	for {
		select {
		case <-from:
			b.Ring()
		case <-s.closed:
			return
		}
	}
}

func (s *storeSource) idle() bool { return len(s.queue) == 0 }

func (s *storeSource) close() {
	s.cursor.Close()
	close(s.closed)
}

func (s *storeSource) next(r *replay, c *Cache, reader *topic.Reader) (events []Event, progress storage.Revision, more bool, err error) {
	if _, err := c.pending(reader); err != nil {
		return nil, 0, false, err
	}
	if len(s.queue) == 0 {
		b, err := s.cursor.Next()
		if errors.Is(err, storage.ErrCompacted) {
			c.expired.Add(1)
		}
		if err != nil {
			return nil, 0, false, err
		}
		s.queue, s.seen = b.Events, max(s.seen, b.Progress)
	}
	n := 0
	for ; n < len(s.queue); n++ {
		ev := &s.queue[n]
		if enough(n, events) && ev.Revision() != s.queue[n-1].Revision() {
			break
		}
		if ev.Revision() > s.until {
			return events, s.until, false, nil
		}
		ch := change.Change{Revision: ev.Revision()}
		if ev.Type == storage.Put {
			ch.New = c.resource.object(ev.KV)
		}
		if ev.Prev != nil {
			ch.Old = c.resource.object(ev.Prev)
		}
		s.lapse(&ch)
		events = r.add(events, &ch)
	}
	if s.queue = s.queue[n:]; len(s.queue) > 0 {
		return events, s.queue[0].Revision() - 1, true, nil
	}
	return events, s.seen, s.seen < s.until, nil
}

// lapse completes a change with the last readable state before the lapse that it ends.
func (s *storeSource) lapse(ch *change.Change) {
	key := ch.Object().Key()
	if ch.Old != nil && !object.Readable(ch.Old) {
		ch.LastReadable = s.before[key]
	}
	switch {
	case ch.New == nil || object.Readable(ch.New):
		delete(s.before, key)
	case ch.Old == nil || object.Readable(ch.Old):
		if s.before == nil {
			s.before = map[string]*Object{}
		}
		s.before[key] = ch.Old
	}
}
