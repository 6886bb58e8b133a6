package watchcache

import (
	"context"

	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// Watch returns a watcher of every event of the selection after a revision, once, in order. The
// revision may be in the future: no event up to it is delivered. After 0 means from now on.
//
// Events that the cache no longer keeps are read from the store. Errors: storage.ErrCompacted if
// the store does not keep them either, storage.ErrUnavailable, storage.ErrClosed, and
// *UnreadableError if the range holds an unreadable object.
func (c *Cache) Watch(ctx context.Context, sel Selection, after storage.Revision) (*Watcher, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.resource.kind.Open != nil {
		c.reopen(c.unreadable())
	}
	m := c.resource.compile(sel)
	w, until, err := c.enter(&m, after)
	if err != nil {
		return nil, err
	}
	if until > 0 {
		if w.replay, err = c.replayStore(&m, after, until, w.reader.Bell()); err != nil {
			w.Close()
			return nil, err
		}
	}
	if w.replay != nil {
		w.Ring()
	}
	return w, nil
}

// WatchFrom is Watch after a snapshot of this cache: together they show every object and event
// once.
func (c *Cache) WatchFrom(ctx context.Context, s *Snapshot, sel Selection) (*Watcher, error) {
	return c.Watch(ctx, sel, s.rev)
}

// enter puts a new watcher into its topic. If the history does not reach back to after, the store
// must be read until the revision returned. With the follower's lock no batch is half applied: the
// changes applied so far and the topic's log from here on are exactly the two halves of the history.
func (c *Cache) enter(m *selection.Matcher, after storage.Revision) (w *Watcher, until storage.Revision, err error) {
	c.follower.Lock()
	defer c.follower.Unlock()
	if after > c.follower.Revision() {
		// A store that fails now reports it to the feeder; the watcher waits.
		_ = c.follower.Advance(after)
	}
	s := &c.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.err != nil {
		return nil, 0, s.mu.err
	}
	if err := c.resource.rangeError(m, s.mu.lapses.objects(), ""); err != nil {
		return nil, 0, err
	}
	if after == 0 {
		after = c.follower.Revision()
	}
	w = s.newWatcher(m)
	w.cache, w.after = c, after
	switch {
	case w.reader.Seek(after):
	case after >= s.mu.history.Floor():
		w.replay = s.replayHistory(m, after)
	default:
		until = c.follower.Revision()
	}
	return w, until, nil
}

// newWatcher finds or makes the topic of a selection and makes a watcher of it. Most topics have
// one watcher, so both are one allocation: fewer objects for the garbage collector to visit.
func (s *state) newWatcher(m *selection.Matcher) *Watcher {
	if t := s.mu.topics.Find(m); t != nil {
		w := &Watcher{}
		s.mu.topics.Enter(&w.reader, t)
		return w
	}
	both := &struct {
		Watcher
		topic.Topic
	}{}
	s.mu.topics.Add(&both.Topic, m, s.mu.last)
	s.mu.topics.Enter(&both.reader, &both.Topic)
	return &both.Watcher
}
