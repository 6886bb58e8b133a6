package watchcache

import (
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// A Watcher is a position in a topic and a bell. It belongs to one goroutine at a time.
type Watcher struct {
	reader topic.Reader
	cache  *Cache
	// replay yields the events before the reader's position, nil once they are delivered.
	replay *replay
	// after: no event up to this revision is delivered.
	after storage.Revision
}

// Bell returns the channel that is signalled when Next may have events, and when it would fail. It
// may be signalled without either.
func (w *Watcher) Bell() <-chan struct{} { return w.reader.Bell().Channel() }

// Ring rings the bell, for a reader that also waits for something else than events. Any goroutine
// may call it.
func (w *Watcher) Ring() { w.reader.Bell().Ring() }

// OnRing makes f the reaction to the bell from now on, and calls it once now. f is called with
// locks held: it must not block, nor call the watcher or its cache.
func (w *Watcher) OnRing(f func()) {
	w.reader.Bell().OnRing(f)
	f()
}

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
		events, progress, more, err := w.replay.source.next(w.replay, w.cache, &w.reader)
		if err != nil {
			return nil, 0, err
		}
		idle := more && w.replay.source.idle()
		if !more {
			w.endReplay()
		}
		if more || len(events) > 0 {
			if !idle {
				w.Ring()
			}
			return events, progress, nil
		}
	}
	// This is read before the log: an event that is not in the log then is above it.
	applied := w.cache.follower.Revision()
	view, err := w.cache.pending(&w.reader)
	if err != nil && len(view) == 0 {
		return nil, 0, err
	}
	if err != nil { // the end: no event comes later
		applied = view[len(view)-1].Revision
		w.Ring()
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
			w.Ring()
		}
	}
	w.reader.Advance(n)
	return view[skip:n:n], progress, nil
}

// endReplay drops the replay.
func (w *Watcher) endReplay() {
	w.replay.source.close()
	w.replay = nil
}

// Close leaves the topic. Next then fails with storage.ErrClosed. A second call has no effect.
func (w *Watcher) Close() {
	mu := &w.cache.state.mu
	mu.Lock()
	defer mu.Unlock()
	if mu.topics.Leave(&w.reader) && w.replay != nil {
		w.endReplay()
	}
}

// After returns the revisions of the events of the watcher's selection after a revision, as far as
// its topic keeps them: the events that a reader at that revision has still to read. Unlike the
// other methods it may be called from any goroutine.
func (w *Watcher) After(rev storage.Revision) []storage.Revision {
	mu := &w.cache.state.mu
	mu.RLock()
	defer mu.RUnlock()
	var revs []storage.Revision
	for _, e := range w.reader.After(max(rev, w.after)) {
		revs = append(revs, e.Revision)
	}
	return revs
}
