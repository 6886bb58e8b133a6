package local

import (
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// published is what readers see: one state after the other, and the bells of the cursors that
// follow them.
type published struct {
	// state is the published state; see the type.
	state  atomic.Pointer[state]
	closed atomic.Bool

	// mu orders changes of state, and guards the cursors. It is held for moments only, never during
	// I/O.
	mu struct {
		sync.Mutex
		bells bells
		rung  []*topic // scratch
	}
}

// state is one consistent state of the store as of rev. Entries and chains may already show
// versions above rev; readers skip them.
type state struct {
	rev, compacted storage.Revision
	tree           *mvcc.Tree
	log            mvcc.Log
	live           mvcc.Size
}

// publish shows a written group, which has versions, to readers, and rings the bells. It returns
// the ends of the log before and after.
func (p *published) publish(g *group) (before, after int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := *p.state.Load()
	before = st.log.End
	rung := p.mu.bells.mark(before, g.Versions, p.mu.rung[:0])
	st.rev = g.Rev
	st.live.Keys += g.live.Keys
	st.live.Bytes += g.live.Bytes
	st.log = st.log.Append(g.Versions)
	if g.tree != nil {
		st.tree = g.tree
	}
	p.state.Store(&st)
	for i, t := range rung {
		t.ring()
		rung[i] = nil
	}
	p.mu.bells.ringWaiting(st.rev)
	p.mu.rung = rung
	return before, st.log.End
}

// compact publishes the bound of a compaction. It returns the log of before, and the sequence
// number of the first event in it that is kept.
func (p *published) compact(r storage.Revision) (old mvcc.Log, kept int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := *p.state.Load()
	old, kept = st.log, st.log.After(r)
	st.compacted, st.log = r, st.log.Trim(kept)
	p.state.Store(&st)
	return old, kept
}

// replaceTree publishes a tree without the keys that a compaction has dropped.
func (p *published) replaceTree(t *mvcc.Tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := *p.state.Load()
	st.tree = t
	p.state.Store(&st)
}

// close ends reads and cursors.
func (p *published) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed.Store(true)
	p.mu.bells.ringAll()
}

// cursors returns the number of open cursors, and the state of that moment.
func (p *published) cursors() (int, *state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.bells.count(), p.state.Load()
}

func compactedError(r, compacted storage.Revision) error {
	return fmt.Errorf("revision %d, compacted up to %d: %w", r, compacted, storage.ErrCompacted)
}
