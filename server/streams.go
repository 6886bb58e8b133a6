package server

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/watchcache"
)

// streams are the watches that are open.
type streams struct {
	// mu guards the set, and keeps a stream's connection from being touched
	// once its handler has returned.
	mu struct {
		sync.Mutex
		open  map[*stream]struct{}
		ended bool
	}
	limit time.Duration
	// reorder has the streams that a fault reorders.
	reorder reordering
	// opened counts them.
	opened atomic.Uint64
}

func (s *streams) open(c *call, f *form, from *watchcache.Watcher) *stream {
	st := &stream{
		s: c.s, f: f, from: from, sent: c.s.metrics.Watch(c.ep),
		push: &push{ctx: c.ctx, w: c.w, rc: http.NewResponseController(c.w), unhook: func() bool { return false }},
	}
	st.sent.Open.Inc()
	if from != nil {
		s.connect(c, st)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.open == nil {
		s.mu.open = map[*stream]struct{}{}
	}
	s.mu.open[st] = struct{}{}
	st.ended.Store(s.mu.ended)
	return st
}

// connect gives the stream its source: the cursor, with the decorators that it needs.
func (s *streams) connect(c *call, st *stream) {
	cfg := &c.s.cfg
	st.src = cursor{st.from, st.sent}
	if c.ep.Redefinable && cfg.Definitions != nil {
		st.fence = &fence{source: st.src, ep: c.ep, definitions: cfg.Definitions}
		st.src = st.fence
	}
	if cfg.Trace == nil && cfg.Faults == nil {
		return
	}
	who := c.follows(s.opened.Add(1))
	if cfg.Faults != nil {
		st.faults = &watchFaults{source: st.src, from: st.from, set: cfg.Faults, log: cfg.Trace, reorder: &s.reorder, who: who}
		st.src = st.faults
	}
	if cfg.Trace != nil {
		st.trace = &watchTrace{source: st.src, log: cfg.Trace, way: cfg.Trace.Open(who)}
		st.src = st.trace
	}
}

// close forgets the stream, whose time is over.
func (st *stream) close() {
	s := &st.s.streams
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

// watchdog drops clients that leave a write unread for longer than the limit,
// until ctx ends; then it ends all streams. If it was not run for a while nobody was:
// then clients have until the next look.
func (s *streams) watchdog(ctx context.Context) {
	t := time.NewTicker(s.limit / 4)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case now := <-t.C:
			if now.Sub(last) < s.limit/2 {
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

func (s *streams) dropStuck(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.mu.open {
		if st.push == nil {
			continue // its connection sees to that
		}
		since := st.push.since.Load()
		if since == 0 || now.UnixNano()-since < int64(s.limit) {
			continue
		}
		// A deadline in the past makes the blocked write fail.
		if err := st.push.rc.SetWriteDeadline(now.Add(-time.Second)); err == nil {
			st.sent.Dropped.Inc()
		}
	}
}
