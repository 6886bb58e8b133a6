package watchcache

import (
	"slices"
	"time"

	"fairlead.dev/storage"
)

const (
	// maxPastSnapshots and pastSnapshotTTL bound the snapshots of the past that are kept for the
	// next page of a list.
	maxPastSnapshots = 4
	pastSnapshotTTL  = time.Minute
)

// pastSnapshots are the exact snapshots that were read lately.
type pastSnapshots []*Snapshot

// find returns the kept snapshot of a revision, or nil.
func (p pastSnapshots) find(rev storage.Revision) *Snapshot {
	for _, s := range p {
		if s.rev == rev {
			s.used = time.Now()
			return s
		}
	}
	return nil
}

// keep keeps a snapshot, and drops the oldest of too many.
func (p *pastSnapshots) keep(s *Snapshot) {
	s.used = time.Now()
	if *p = append(*p, s); len(*p) > maxPastSnapshots {
		*p = slices.Delete(*p, 0, 1)
	}
}

// expire drops the snapshots that were not read for a while.
func (p *pastSnapshots) expire(now time.Time) {
	*p = slices.DeleteFunc(*p, func(s *Snapshot) bool { return now.Sub(s.used) > pastSnapshotTTL })
}
