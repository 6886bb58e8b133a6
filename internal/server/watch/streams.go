package watch

import (
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/server/watch/source"
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
	reorder source.Reordering
	// opened counts them.
	opened atomic.Uint64
}

// NewStreams returns an empty set.
func NewStreams(cfg Config) *Streams { return &Streams{Config: cfg} }

// Stream is an open watch: its frames, and the way by which they go to the client. It belongs to the
// one that serves it, a goroutine or the connection that it has been handed over to.
type Stream struct {
	frames
	s *Streams
	// from is the watcher; nil if the watch could not begin.
	from *watchcache.Watcher
	// push writes to the client; nil once the stream has been handed over. Guarded by
	// Streams.mu. done is then called at the stream's end.
	push *push
	done func(bytes int64)
	// fence, faults and trace are those of the frames' source, nil if it has none.
	fence  *source.Fence
	faults *source.Faults
	trace  *source.Trace
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

// close ends the stream and takes it out of the set.
func (st *Stream) close() {
	s := st.s
	s.mu.Lock()
	delete(s.mu.open, st)
	s.mu.Unlock()
	st.sent.Open.Dec()
	st.hasBegun()
	if st.live {
		st.clock.Stop()
	}
	if st.push != nil {
		st.push.unhook()
	}
	if st.src != nil {
		st.src.Close()
	}
}
