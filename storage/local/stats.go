package local

import "fairlead.dev/storage"

// Stats tells the size of a store.
type Stats struct {
	// Revision is the last one, Compacted the last that was compacted.
	Revision, Compacted storage.Revision
	// Keys is the number of keys that exist, Events that of the events kept in
	// memory for watchers, Cursors that of the cursors that are open.
	Keys, Events int64
	Cursors      int
	// Commits counts the transactions answered since Open, Groups the writes
	// that made them durable.
	Commits, Groups int64
	// LiveBytes is the size of the keys that exist and of their values, KeptBytes
	// that of the records of what exists and of what history keeps beside, and
	// DiskBytes what the directory takes. The last two are 0 in memory.
	LiveBytes, KeptBytes, DiskBytes uint64
	// Err is why the store is read-only, nil if it is not.
	Err error
}

// Stats tells the size of s.
func (s *Store) Stats() Stats {
	s.pub.Lock()
	cursors := s.pub.bells.count()
	st := s.state.Load()
	s.pub.Unlock()
	out := Stats{
		Revision: st.rev, Compacted: st.compacted,
		Keys: st.live.keys, LiveBytes: uint64(st.live.bytes), Events: st.log.end - st.log.first, Cursors: cursors,
		Commits: s.commits.Load(), Groups: s.groups.Load(),
		Err: s.Err(),
	}
	if s.engine != nil && out.Err == nil && !s.closed.Load() {
		out.KeptBytes = uint64(s.kept.Load())
		out.DiskBytes = s.engine.diskUsage()
	}
	return out
}

// DiskBytes is what the directory takes, and what of it is not known to be
// garbage; 0 in memory.
func (s *Store) DiskBytes() (total, live uint64) {
	st := s.Stats()
	if st.DiskBytes == 0 {
		return 0, 0
	}
	kept, garbage := float64(st.KeptBytes), float64(s.compactor.dead().bytes)
	return st.DiskBytes, uint64(float64(st.DiskBytes) * (kept + 1) / (kept + garbage + 1))
}

var _ storage.Store = (*Store)(nil)
