package server

import (
	"cmp"
	"net/http"
	"slices"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// WatchersPath answers with the watches that are open, as a JSON array of Watcher, to who
// may get the path.
const WatchersPath = "/debug/watchers"

// Watcher is a watch that is open, and how far it has come.
type Watcher struct {
	trace.Stream
	// Reached is the revision of the last event that it was sent, 0 for none.
	Reached int64 `json:"reached,omitempty"`
	// Waiting is how many events it has still to be sent, as far as they are kept in
	// memory, and Oldest the revision of the first of them.
	Waiting int   `json:"waiting"`
	Oldest  int64 `json:"oldest,omitempty"`
}

// watchers serves WatchersPath.
func (c *call) watchers() error {
	if c.s.cfg.Trace == nil {
		return apistatus.ErrPathNotFound
	}
	return c.writeJSON(http.StatusOK, c.s.watchers())
}

// watchers are those that are open, in the order in which they began.
func (s *Server) watchers() []Watcher {
	all := []Watcher{}
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	for st := range s.streams.mu.open {
		if st.trace == nil {
			continue
		}
		w := Watcher{Stream: *st.trace.way.Stream(), Reached: st.trace.way.Reached()}
		if st.from != nil {
			if revs := st.from.After(storage.Revision(w.Reached)); len(revs) > 0 {
				w.Waiting, w.Oldest = len(revs), int64(revs[0])
			}
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b Watcher) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
