package local

import (
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// quota bounds the memory of a store: see Options.MaxBytes. working.mu guards it.
type quota struct {
	max int64 // 0 is no bound
	// live and superseded are the sizes of the existing keys and of the versions that only history has.
	live, superseded int64
	// bell rings when the history has to be compacted.
	bell chan struct{}
}

// admit returns storage.ErrNoSpace if the ops would make the existing keys too large.
func (w *working) admit(ops []storage.Op) error {
	q := &w.mu.quota
	if q.max == 0 {
		return nil
	}
	var growth int64
	for _, op := range ops {
		if op.Type != storage.Put {
			continue
		}
		growth += int64(len(op.Key) + len(op.Value))
		if e, ok := w.mu.tree.Get(op.Key); ok {
			growth -= sizeOf(e.Head.Load())
		}
	}
	if growth > 0 && q.live+growth > q.max {
		return fmt.Errorf("%w: %d bytes, limit is %d", storage.ErrNoSpace, q.live+growth, q.max)
	}
	return nil
}

// replaced counts that next supersedes prev, which may be nil.
func (q *quota) replaced(prev, next *mvcc.Version) {
	if q.max == 0 {
		return
	}
	old := sizeOf(prev)
	q.live += sizeOf(next) - old
	q.superseded += old
	if q.live+q.superseded > q.max {
		select {
		case q.bell <- struct{}{}:
		default:
		}
	}
}

// forgotten counts that history no longer has a version.
func (q *quota) forgotten(v *mvcc.Version) {
	if q.max > 0 {
		q.superseded -= sizeOf(v)
	}
}

// sizeOf is the size of a version's key and value, 0 if it has none.
func sizeOf(v *mvcc.Version) int64 {
	if v == nil || v.Deleted {
		return 0
	}
	return int64(len(v.KV().Key) + v.ValueSize())
}

// makeRoom compacts all history each time that the quota demands it, until the store stops.
func (c *compactor) makeRoom(stop <-chan struct{}, bell <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-bell:
		}
		if st := c.published.state.Load(); st.rev > st.compacted {
			_ = c.compactTo(st.rev) // fails only if a compaction has just done the same
		}
	}
}
