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
	cursors, st := s.published.cursors()
	out := Stats{
		Revision: st.rev, Compacted: st.compacted,
		Keys: st.live.Keys, LiveBytes: uint64(st.live.Bytes), Events: st.log.End - st.log.First, Cursors: cursors,
		Commits: s.committer.commits.Load(), Groups: s.committer.groups.Load(),
		Err: s.Err(),
	}
	if s.engine != nil && out.Err == nil && !s.published.closed.Load() {
		out.KeptBytes = uint64(s.engine.Kept())
		out.DiskBytes = s.engine.DiskUsage()
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
	kept, garbage := float64(st.KeptBytes), float64(s.compactor.dead().Bytes)
	return st.DiskBytes, uint64(float64(st.DiskBytes) * (kept + 1) / (kept + garbage + 1))
}
