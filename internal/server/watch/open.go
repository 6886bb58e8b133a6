package watch

import (
	"context"
	"net/http"
	"time"

	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/watch/source"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

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
	// Begun is called when the stream has shown the state that the watch begins with, and at its end.
	Begun func()
	// Client describes the watch, for the trace and for faults.
	Client func(id uint64) *trace.Stream
}

// Open begins a watch: it sends the head of the response and, if the watch has failed, the
// error. The stream is to be handed over or run.
func (s *Streams) Open(b Opening) *Stream {
	st := &Stream{
		s: s, from: b.From,
		frames: frames{encoder: encoder{cfg: &s.Config, rep: b.Representation, sent: b.Counters}, picking: b.Selected},
		push:   &push{ctx: b.Context, w: b.Writer, rc: http.NewResponseController(b.Writer), unhook: func() bool { return false }},
	}
	st.begun = b.Begun
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
		if st.first = b.Initial; st.first == nil {
			st.hasBegun()
		}
		st.start(b.Timeout, b.Bookmarks)
	}
	begun = true
	return st
}

// connect gives the stream its source: the cursor, with the decorators that it needs.
func (s *Streams) connect(st *Stream, client func(id uint64) *trace.Stream) {
	st.src = source.Cursor{From: st.from, Sent: st.sent}
	if st.rep.Endpoint.Redefinable && s.Definitions != nil {
		st.fence = source.NewFence(st.src, st.rep.Endpoint, s.Definitions)
		st.src = st.fence
	}
	if s.Trace == nil && s.Faults == nil {
		return
	}
	described := client(s.opened.Add(1))
	if s.Faults != nil {
		st.faults = source.NewFaults(st.src, st.from, s.Faults, s.Trace, &s.reorder, described)
		st.src = st.faults
	}
	if s.Trace != nil {
		st.trace = source.NewTrace(st.src, s.Trace, described)
		st.src = st.trace
	}
}

// begin sends the head of the response, so that the client knows that the watch is open.
func (st *Stream) begin() error {
	h := st.push.w.Header()
	h.Set("Content-Type", st.rep.Media.StreamType())
	st.push.w.WriteHeader(http.StatusOK)
	return st.push.rc.Flush()
}

// fail sends the ERROR event of a watch that could not begin.
func (st *Stream) fail(err error) { st.push.write(st.appendFailure(nil, err), true) }

// start sets the stream's clock.
func (st *Stream) start(timeout time.Duration, bookmarks bool) {
	now := time.Now()
	st.live, st.end = true, now.Add(timeout)
	wake := timeout
	if bookmarks {
		st.every = st.cfg.BookmarkEvery
		st.mark = now.Add(st.every)
		wake = min(wake, st.every)
	}
	st.clock = time.AfterFunc(wake, st.from.Ring)
	st.push.unhook = context.AfterFunc(st.push.ctx, st.from.Ring)
}
