package watch

import (
	"context"
	"time"
)

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
					st.finish()
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
		if err := st.push.cut(now); err == nil {
			st.sent.Dropped.Inc()
		}
	}
}
