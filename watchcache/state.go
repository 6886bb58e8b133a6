package watchcache

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/watchcache/history"
	"fairlead.dev/internal/watchcache/index"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"

	"github.com/tidwall/btree"
)

// A state is what a cache holds of its resource: the current objects, the history and the topics. The
// hub's follower writes it, as a follow.Sink; the methods of Cache read it.
type state struct {
	resource *resource
	store    storage.Store
	opts     *HubOptions
	backlog  *backlog
	// begin, if not nil, is the state at the revision with which the store began. It is nil once the state is loaded.
	begin *Snapshot

	// snap is a snapshot of the current state, nil if no reader has asked for one since the last
	// change. A change clears it, so that the memory that only the snapshot holds is freed when its
	// readers are done.
	snap atomic.Pointer[Snapshot]

	settling settling

	// mu is taken after the follower's lock. Changes are applied with both held.
	mu struct {
		sync.RWMutex
		// err: the cache is removed or not loaded.
		err  error
		tree *btree.Map[string, *Object]
		// last is the revision of the newest change.
		last    storage.Revision
		lapses  lapses
		history history.History
		topics  topic.Set
		indexes index.Set
		past    pastSnapshots
	}
}

// init completes a state that is not loaded yet.
func (s *state) init(r *resource, store storage.Store, o *HubOptions, b *backlog, begin *Snapshot) {
	s.resource, s.store, s.opts, s.backlog, s.begin = r, store, o, b, begin
	s.settling.packing = newPacking(store)
	s.mu.topics = topic.NewSet(&b.topics)
	s.mu.tree = btree.NewMap[string, *Object](0)
	s.mu.err = fmt.Errorf("%s: not loaded yet: %w", r.opts.Resource, storage.ErrUnavailable)
}

// snapshot makes a snapshot of the current state, which is that of a revision. mu is held.
func (s *state) snapshot(rev storage.Revision) *Snapshot {
	return &Snapshot{resource: s.resource, rev: rev, tree: s.mu.tree.Copy(), indexes: s.mu.indexes.Copy(), unreadable: s.mu.lapses.objects()}
}

// noteMiss records that a list missed an index, and builds it if that is worth it.
func (s *state) noteMiss(dim selection.Dimension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.err != nil {
		return
	}
	built := s.mu.indexes.Miss(dim, func(yield func(*Object)) {
		s.mu.tree.Scan(func(_ string, o *Object) bool {
			yield(o)
			return true
		})
	})
	if built {
		s.snap.Store(nil)
	}
}

// A backlog is the work that changes leave for the goroutine of Hub.Run. The follower's lock guards
// it.
type backlog struct {
	topics topic.Queue
	// packs are states with changes to pack.
	packs []*state
}

// pack leaves a state to be packed.
func (b *backlog) pack(s *state) {
	if !slices.Contains(b.packs, s) {
		b.packs = append(b.packs, s)
	}
}

// take empties the backlog.
func (b *backlog) take() (topics []*topic.Topic, packs []*state) {
	packs, b.packs = b.packs, nil
	return b.topics.Take(), packs
}
