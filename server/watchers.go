package server

import (
	"cmp"
	"net/http"
	"slices"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// WatchersPath answers with the open watches, as a JSON array of Watcher.
const WatchersPath = "/debug/watchers"

// Watcher is an open watch and its position.
type Watcher struct {
	trace.Stream
	// Reached is the revision of the last event sent, 0 before the first.
	Reached int64 `json:"reached,omitempty"`
	// Waiting is the number of events still to be sent, as far as they are kept in memory, and
	// Oldest the revision of the first of them.
	Waiting int   `json:"waiting"`
	Oldest  int64 `json:"oldest,omitempty"`
}

// watchers serves WatchersPath.
func (c *serving) watchers() error {
	if c.s.cfg.Trace == nil {
		return apistatus.ErrPathNotFound
	}
	return c.WriteJSON(http.StatusOK, c.s.watchers())
}

// watchers returns the open watches in the order in which they began.
func (s *Server) watchers() []Watcher {
	all := []Watcher{}
	s.streams.Traced(func(client *trace.Stream, reached int64, waiting []storage.Revision) bool {
		w := Watcher{Stream: *client, Reached: reached, Waiting: len(waiting)}
		if len(waiting) > 0 {
			w.Oldest = int64(waiting[0])
		}
		all = append(all, w)
		return true
	})
	slices.SortFunc(all, func(a, b Watcher) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
