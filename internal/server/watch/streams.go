package watch

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// Streams is the set of open watches.
type Streams struct {
	// mu guards the set, and keeps a stream's connection from being touched
	// once its handler has returned.
	mu struct {
		sync.Mutex
		open  map[*Stream]struct{}
		ended bool
	}
	// Config is the part of the server that streams use.
	Config
	// reorder has the streams that a fault reorders.
	reorder reordering
	// opened counts them.
	opened atomic.Uint64
}

// Config has the parts of the server that streams use.
type Config struct {
	Log *slog.Logger
	// Holds reports whether an endpoint's cache is still the one of its resource.
	Holds func(*endpoint.Endpoint) bool
	// Definitions, Trace and Faults may be nil.
	Definitions settler
	Trace       *trace.Log
	Faults      *faults.Set
	// WriteTimeout is the time that a client may leave a write unread, BookmarkEvery that
	// between bookmarks.
	WriteTimeout, BookmarkEvery time.Duration
}

// NewStreams returns an empty set.
func NewStreams(cfg Config) *Streams { return &Streams{Config: cfg} }

// settler reports whether the definitions that the watch caches hold are in effect.
type settler interface{ Settled() bool }

// Opening is a watch that is about to begin.
type Opening struct {
	Context        context.Context
	Writer         http.ResponseWriter
	Representation *represent.Representation
	// From is the watcher, nil if the watch failed. Failed then says why.
	From   *watchcache.Watcher
	Failed error
	// Initial is the state that the watch begins with, or nil.
	Initial *Initial
	// Selected, if set, filters events further.
	Selected  *represent.Selected
	Timeout   time.Duration
	Bookmarks bool
	Counters  *metrics.WatchCounters
	// Client describes the watch, for the trace and for faults.
	Client func(id uint64) *trace.Stream
}

// Open begins a watch: it sends the head of the response and, if the watch has failed, the
// error. The stream is to be handed over or run.
func (s *Streams) Open(b Opening) *Stream {
	st := &Stream{
		s: s, f: b.Representation, from: b.From, sent: b.Counters, picking: b.Selected,
		push: &push{ctx: b.Context, w: b.Writer, rc: http.NewResponseController(b.Writer), unhook: func() bool { return false }},
	}
	st.sent.Open.Inc()
	if st.from != nil {
		s.connect(st, b.Client)
	}
	s.add(st)
	begun := false
	defer func() {
		if !begun {
			st.close()
		}
	}()
	switch {
	case st.begin() != nil: // the client has gone
	case b.Failed != nil:
		st.fail(b.Failed)
	default:
		st.first = b.Initial
		st.start(b.Timeout, b.Bookmarks)
	}
	begun = true
	return st
}

func (s *Streams) add(st *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.open == nil {
		s.mu.open = map[*Stream]struct{}{}
	}
	s.mu.open[st] = struct{}{}
	st.ended.Store(s.mu.ended)
}

// connect gives the stream its source: the cursor, with the decorators that it needs.
func (s *Streams) connect(st *Stream, client func(id uint64) *trace.Stream) {
	st.src = cursor{st.from, st.sent}
	if st.f.Endpoint.Redefinable && s.Definitions != nil {
		st.fence = &fence{source: st.src, ep: st.f.Endpoint, definitions: s.Definitions}
		st.src = st.fence
	}
	if s.Trace == nil && s.Faults == nil {
		return
	}
	who := client(s.opened.Add(1))
	if s.Faults != nil {
		st.faults = &watchFaults{source: st.src, from: st.from, set: s.Faults, log: s.Trace, reorder: &s.reorder, who: who}
		st.src = st.faults
	}
	if s.Trace != nil {
		st.trace = &watchTrace{source: st.src, log: s.Trace, way: s.Trace.Open(who)}
		st.src = st.trace
	}
}

// close ends the stream and takes it out of the set.
func (st *Stream) close() {
	s := st.s
	s.mu.Lock()
	delete(s.mu.open, st)
	s.mu.Unlock()
	st.sent.Open.Dec()
	if st.live {
		st.clock.Stop()
	}
	if st.push != nil {
		st.push.unhook()
	}
	if st.src != nil {
		st.src.close()
	}
}

// Watchdog drops clients that leave a write unread for longer than WriteTimeout, until ctx
// ends; then it ends all streams. If the process was suspended, clients have until the next
// check.
func (s *Streams) Watchdog(ctx context.Context) {
	t := time.NewTicker(s.WriteTimeout / 4)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case now := <-t.C:
			if now.Sub(last) < s.WriteTimeout/2 {
				s.dropStuck(now)
			}
			last = now
		case <-ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.mu.ended {
				s.mu.ended = true
				for st := range s.mu.open {
					st.ended.Store(true)
					if st.from != nil {
						st.from.Ring()
					}
				}
			}
			return
		}
	}
}

// dropStuck fails the writes that have been blocked for too long.
func (s *Streams) dropStuck(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.mu.open {
		if st.push == nil {
			continue // its connection sees to that
		}
		since := st.push.since.Load()
		if since == 0 || now.UnixNano()-since < int64(s.WriteTimeout) {
			continue
		}
		// A deadline in the past makes the blocked write fail.
		if err := st.push.rc.SetWriteDeadline(now.Add(-time.Second)); err == nil {
			st.sent.Dropped.Inc()
		}
	}
}
