package watchcache

import (
	"context"
	"fmt"
	"sort"

	"fairlead.dev/internal/watchcache/bell"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

// A Watcher is a position in a topic and a bell. It belongs to one goroutine at a time.
type Watcher struct {
	topic *topic
	cache *Cache
	bell  bell.Bell
	// replay yields the events before pos, nil once they are delivered.
	replay *replay
	// pos is the next event in the topic's log.
	pos uint64
	// after: no event up to this revision is delivered.
	after storage.Revision
	// slot is the place in topic.bells.watchers; guarded by Cache.mu, -1 once closed.
	slot int
}

// maxEvents bounds the events that Next returns at once, and with them the memory that a slow
// reader holds. It does not split a transaction: a reader that saw half of it could not name the
// revision at which to resume.
const maxEvents = 256

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
	m := c.compile(sel)
	w, until, err := c.enter(&m, after)
	if err != nil {
		return nil, err
	}
	if until > 0 {
		if w.replay, err = c.replayStore(m, after, until); err != nil {
			w.Close()
			return nil, err
		}
		go w.replay.relayBell(w)
	}
	if w.replay != nil {
		w.ring()
	}
	return w, nil
}

// WatchFrom is Watch after a snapshot of this cache: together they show every object and event
// once.
func (c *Cache) WatchFrom(ctx context.Context, s *Snapshot, sel Selection) (*Watcher, error) {
	return c.Watch(ctx, sel, s.rev)
}

// enter puts a new watcher into its topic. If the ring does not reach back to after, the store must
// be read until the revision returned. With the hub's lock no batch is half applied: the changes
// applied so far and the topic's log from here on are exactly the two halves of the history.
func (c *Cache) enter(m *selection.Matcher, after storage.Revision) (w *Watcher, until storage.Revision, err error) {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	if after > c.hub.Revision() {
		// A store that fails now reports it to the feeder; the watcher waits.
		_ = c.hub.advance(after)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return nil, 0, c.mu.err
	}
	if err := c.unreadableIn(m, c.unreadable(), ""); err != nil {
		return nil, 0, err
	}
	if after == 0 {
		after = c.hub.Revision()
	}
	w = c.newWatcher(m)
	t := w.topic
	w.cache, w.pos, w.after, w.slot = c, t.log.End(), after, len(t.bells.watchers)
	switch {
	case after >= t.since:
		if w.pos = t.seek(after); w.pos < t.log.End() {
			w.ring()
		}
	case after >= c.mu.floor:
		ring := &c.mu.ring
		i := sort.Search(len(ring.Items()), func(i int) bool { return ring.Items()[i].rev > after })
		w.replay = &replay{matcher: *m, from: ring.First() + uint64(i), to: ring.End()}
	default:
		until = c.hub.Revision()
	}
	t.bells.Lock()
	t.bells.watchers = append(t.bells.watchers, w)
	t.bells.Unlock()
	c.mu.watchers++
	return w, until, nil
}

// Bell returns the channel that is signalled when Next may have events, and when it would fail. It
// may be signalled without either.
func (w *Watcher) Bell() <-chan struct{} { return w.bell.Channel() }

// Ring rings the bell, for a reader that also waits for something else than events. Any goroutine
// may call it.
func (w *Watcher) Ring() { w.bell.Ring() }

// OnRing makes f the reaction to the bell from now on, and calls it once now. f is called with
// locks held: it must not block, nor call the watcher or its cache.
func (w *Watcher) OnRing(f func()) {
	w.bell.OnRing(f)
	f()
}

func (w *Watcher) ring() { w.bell.Ring() }

// Next returns the events since the last call, without waiting, and the revision up to which the
// watcher has now seen all events. If there may be more at once, the bell has been rung. The events
// are shared and must not be changed.
//
// Errors: storage.ErrCompacted if the reader was slower than the history is long, or if the cache
// had to be rebuilt; storage.ErrClosed if the watcher, the cache or the store is closed, after all
// events before that; storage.ErrUnavailable while the start is still read from a store that fails:
// watch again from the last progress; *UnreadableError, after all events before it, if an object of
// the range is unreadable. The watcher must still be closed after an error.
func (w *Watcher) Next() ([]Event, storage.Revision, error) {
	if w.replay != nil {
		events, progress, more, err := w.replay.next(w)
		if err != nil {
			return nil, 0, err
		}
		idle := more && w.replay.idle()
		if !more {
			w.replay.close()
			w.replay = nil
		}
		if more || len(events) > 0 {
			if !idle {
				w.ring()
			}
			return events, progress, nil
		}
	}
	// This is read before the log: an event that is not in the log then is above it.
	applied := w.cache.hub.Revision()
	view, err := w.pending()
	if err != nil && len(view) == 0 {
		return nil, 0, err
	}
	if err != nil { // the end: no event comes later
		applied = view[len(view)-1].Revision
		w.ring()
	}
	// Events above it have not been published yet, and may be only a part of a transaction.
	n := len(view)
	for n > 0 && view[n-1].Revision > applied {
		n--
	}
	skip := 0
	for skip < n && view[skip].Revision <= w.after {
		skip++
	}
	progress := max(applied, w.after)
	if cut := skip + maxEvents; cut < n {
		for cut < n && view[cut].Revision == view[cut-1].Revision {
			cut++
		}
		if cut < n {
			n, progress = cut, view[cut].Revision-1
			w.ring()
		}
	}
	w.pos += uint64(n)
	return view[skip:n:n], progress, nil
}

// pending returns the events in the topic's log for the watcher, with the error that follows them
// if the topic has ended.
func (w *Watcher) pending() ([]Event, error) {
	c, t := w.cache, w.topic
	c.mu.RLock()
	defer c.mu.RUnlock()
	switch {
	case w.slot < 0:
		return nil, storage.ErrClosed
	case t.err != nil && (w.pos < t.log.First() || w.pos >= t.log.End()):
		return nil, t.err
	case t.err != nil:
		return t.log.View(w.pos), t.err
	case w.pos < t.log.First():
		return nil, w.expired()
	}
	return t.log.View(w.pos), nil
}

func (w *Watcher) expired() error {
	w.cache.expired.Add(1)
	return fmt.Errorf("%s: the watcher is behind the kept history: %w", w.cache.opts.Resource, storage.ErrCompacted)
}

// Close leaves the topic. Next then fails with storage.ErrClosed. A second call has no effect.
func (w *Watcher) Close() {
	c, t := w.cache, w.topic
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.slot < 0 {
		return
	}
	t.bells.Lock()
	ws := t.bells.watchers
	last := len(ws) - 1
	ws[w.slot] = ws[last]
	ws[w.slot].slot = w.slot
	ws[last] = nil
	t.bells.watchers = ws[:last]
	t.bells.Unlock()
	w.slot = -1
	c.mu.watchers--
	if w.replay != nil {
		w.replay.close()
		w.replay = nil
	}
	// A topic without a filter adds no cost to writes; it stays while its log can serve a watcher
	// that comes back.
	if last == 0 && !t.gone && (t.filter != nil || len(t.log.Items()) == 0) {
		c.remove(t)
	}
}

// After returns the revisions of the events of the watcher's selection after a revision, as far as
// its topic keeps them: the events that a reader at that revision has still to read. Unlike the
// other methods it may be called from any goroutine.
func (w *Watcher) After(rev storage.Revision) []storage.Revision {
	w.cache.mu.RLock()
	defer w.cache.mu.RUnlock()
	t := w.topic
	if w.slot < 0 {
		return nil
	}
	var revs []storage.Revision
	for _, e := range t.log.View(t.seek(max(rev, w.after))) {
		revs = append(revs, e.Revision)
	}
	return revs
}
