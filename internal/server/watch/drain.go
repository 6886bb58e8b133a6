package watch

import "time"

// Drain ends the open streams one after another, evenly over a period, so that their clients do not all connect to another server at
// the same moment. Streams that begin meanwhile stay open.
func (s *Streams) Drain(period time.Duration) {
	s.mu.Lock()
	all := make([]*Stream, 0, len(s.mu.open))
	for st := range s.mu.open {
		all = append(all, st)
	}
	s.mu.Unlock()
	began := time.Now()
	for i, st := range all {
		time.Sleep(time.Until(began.Add(period * time.Duration(i+1) / time.Duration(len(all)))))
		s.mu.Lock()
		if _, open := s.mu.open[st]; open {
			st.finish()
		}
		s.mu.Unlock()
	}
}

// finish lets the stream end once it has sent what it has. Streams.mu is held.
func (st *Stream) finish() {
	st.ended.Store(true)
	if st.from != nil {
		st.from.Ring()
	}
}
