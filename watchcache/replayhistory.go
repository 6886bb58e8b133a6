package watchcache

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// A historySource yields the changes of the cache's history from one number to another.
type historySource struct{ from, to uint64 }

// replayHistory returns a replay of the changes after a revision that the history reaches back to.
// The state's lock is held.
func (s *state) replayHistory(m *selection.Matcher, after storage.Revision) *replay {
	r := &struct { // one allocation
		replay
		historySource
	}{replay{matcher: *m}, historySource{s.mu.history.After(after), s.mu.history.End()}}
	r.source = &r.historySource
	return &r.replay
}

func (s *historySource) next(r *replay, c *Cache, reader *topic.Reader) (events []Event, progress storage.Revision, more bool, err error) {
	view, err := s.view(c, reader)
	if err != nil {
		return nil, 0, false, err
	}
	n := 0
	for ; n < len(view); n++ {
		if enough(n, events) && view[n].Revision != view[n-1].Revision {
			break
		}
		events = r.add(events, &view[n])
	}
	s.from += uint64(n)
	if n == len(view) {
		if n > 0 {
			progress = view[n-1].Revision
		}
		return events, progress, false, nil
	}
	return events, view[n].Revision - 1, true, nil
}

// view returns the changes that are left.
func (s *historySource) view(c *Cache, reader *topic.Reader) ([]change.Change, error) {
	mu := &c.state.mu
	mu.RLock()
	defer mu.RUnlock()
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if s.from < mu.history.First() {
		return nil, c.expire()
	}
	return mu.history.View(s.from)[:s.to-s.from], nil
}

func (s *historySource) idle() bool { return false }
func (s *historySource) close()     {}
