package watch

import (
	"log/slog"
	"time"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/watch/source"
	"fairlead.dev/trace"
)

// Config has the parts of the server that streams use.
type Config struct {
	Log *slog.Logger
	// Holds reports whether an endpoint's cache is still the one of its resource.
	Holds func(*endpoint.Endpoint) bool
	// Definitions, Trace and Faults may be nil.
	Definitions source.Settler
	Trace       *trace.Log
	Faults      *faults.Set
	// WriteTimeout is the time that a client may leave a write unread, BookmarkEvery that
	// between bookmarks.
	WriteTimeout, BookmarkEvery time.Duration
}
