package local

import "fairlead.dev/storage"

// Stats are figures for metrics.
type Stats struct {
	// Revision is the last revision, Compacted the last compacted one.
	Revision, Compacted storage.Revision
	// Keys counts the existing keys, Events the events kept in memory for watchers, Cursors the
	// open cursors.
	Keys, Events int64
	Cursors      int
	// Commits counts the transactions answered since Open, Groups the writes that made them
	// durable.
	Commits, Groups int64
	// LiveBytes is the size of the existing keys and their values, KeptBytes that of the records of
	// these and of history, and DiskBytes that of the directory. The last two are 0 in memory.
	LiveBytes, KeptBytes, DiskBytes uint64
	// Err is the reason why the store is read-only; nil if it is not.
	Err error
}

// Stats returns the current figures.
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

// DiskBytes returns the size of the directory and the part of it that is not known to be garbage; 0
// in memory.
func (s *Store) DiskBytes() (total, live uint64) {
	st := s.Stats()
	if st.DiskBytes == 0 {
		return 0, 0
	}
	kept, garbage := float64(st.KeptBytes), float64(s.compactor.dead().bytes)
	return st.DiskBytes, uint64(float64(st.DiskBytes) * (kept + 1) / (kept + garbage + 1))
}

var _ storage.Store = (*Store)(nil)
