package local

import (
	"slices"
	"sort"
	"sync"
	"time"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
)

// times knows roughly when each revision of the kept history was committed: the revisions of the
// compactor's marks of time, those on disk and those of this process. A process that is idle marks
// no revision on disk, but notes here that the last one was still the last.
type times struct {
	// mu guards the marks, in the order of time; no I/O happens under it.
	mu struct {
		sync.Mutex
		marks []engine.Mark
	}
}

// open begins with the marks that were on disk.
func (t *times) open(marks []engine.Mark) { t.mu.marks = slices.Clone(marks) }

// note adds a mark. Of the marks of one revision, the first and the last are kept.
func (t *times) note(m engine.Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.mu.marks)
	if n > 1 && t.mu.marks[n-2].Rev == m.Rev {
		t.mu.marks[n-1] = m
		return
	}
	t.mu.marks = append(t.mu.marks, m)
}

// drop removes the marks below a compaction. The last of them stays: it bounds the time of the
// first kept revision.
func (t *times) drop(compacted storage.Revision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.reached(compacted) - 1; n > 0 {
		t.mu.marks = slices.Delete(t.mu.marks, 0, n)
	}
}

// reached returns the index of the first mark at a revision or above; mu is held.
func (t *times) reached(r storage.Revision) int {
	return sort.Search(len(t.mu.marks), func(i int) bool { return t.mu.marks[i].Rev >= r })
}

// of bounds the time at which a revision was committed; a zero bound is unknown.
func (t *times) of(r storage.Revision) (after, by time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.reached(r)
	if i > 0 {
		after = t.mu.marks[i-1].At
	}
	if by = time.Now(); i < len(t.mu.marks) {
		by = t.mu.marks[i].At
	}
	return after, by
}
