package local

import (
	"fmt"
	"sync"
	"time"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
	"fairlead.dev/internal/storage/mvcc"
)

// The compactor drops history. From time to time age marks the current revision, on disk too, and
// compacts to the youngest mark that is older than Options.History. So history is kept a little
// longer than that, and a restart, after which only the marks are known, makes it longer by at most
// one tick.
type compactor struct {
	engine    *engine.Engine // nil if in memory only
	published *published
	working   *working
	failure   *failure
	history   time.Duration // Options.History
	times     *times
	// bell rings when there may be enough garbage for the cleaner.
	bell chan struct{}

	// mu is held while compacting. It is taken before working.mu.
	mu struct {
		sync.Mutex
		marks []engine.Mark
		// garbage is the compacted records that are on disk.
		garbage engine.Garbage
	}
}

// age marks the current revision and compacts history that is too old.
func (c *compactor) age(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	rev := c.published.state.Load().rev
	c.times.note(engine.Mark{Rev: rev, At: now})
	if n := len(c.mu.marks); rev > 1 && (n == 0 || c.mu.marks[n-1].Rev < rev) {
		if c.engine != nil {
			if err := c.engine.Mark(rev, now); err != nil {
				return err
			}
		}
		c.mu.marks = append(c.mu.marks, engine.Mark{Rev: rev, At: now})
	}
	var old storage.Revision
	for _, m := range c.mu.marks {
		if now.Sub(m.At) < c.history {
			break
		}
		old = m.Rev
	}
	if old <= c.published.state.Load().compacted {
		return nil
	}
	return c.compact(old)
}

// compactTo compacts to r if r is above the last compaction.
func (c *compactor) compactTo(r storage.Revision) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.published.state.Load()
	switch {
	case c.published.closed.Load():
		return storage.ErrClosed
	case r <= st.compacted || r < 1:
		return compactedError(r, st.compacted)
	case r > st.rev:
		return fmt.Errorf("revision %d, the last is %d: %w", r, st.rev, storage.ErrFutureRevision)
	}
	if err := c.compact(r); err != nil {
		c.failure.fail(err)
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, c.failure.err())
	}
	return nil
}

// compact drops the versions that only revisions below r can see. Every event up to r superseded at
// most one version, so the log of these events lists all of them; keys that did not change add
// no cost. The order matters:
//
//  1. The new bound is written to disk, so that every hole that a crash leaves is explained.
//  2. It is published, so that a reader that meets a cut chain can find out.
//  3. The chains are cut, and the segments dropped.
//  4. The superseded records become garbage, for the cleaner. They stay on disk for a while; each
//     Open finds them.
//
// c.mu is held.
func (c *compactor) compact(r storage.Revision) error {
	old := c.drop(r)
	if c.engine != nil {
		if err := c.engine.Bound(r, old); err != nil {
			return err
		}
	}
	log, kept := c.published.compact(r)
	for first := log.First; first < kept; {
		n := min(kept, first+compactStep)
		c.forget(log, first, n)
		first = n
	}
	c.ring()
	return nil
}

// compactStep is how many events are forgotten under one lock.
const compactStep = 1024

// drop removes the marks below r from the list and returns them. The one at r stays as the time of
// the kept history. c.mu is held.
func (c *compactor) drop(r storage.Revision) []engine.Mark {
	n := 0
	for n < len(c.mu.marks) && c.mu.marks[n].Rev < r {
		n++
	}
	dropped := c.mu.marks[:n:n]
	c.times.drop(r)
	c.mu.marks = c.mu.marks[n:]
	return dropped
}

// forget cuts the versions that the events [first, end) have superseded. c.mu is held.
func (c *compactor) forget(log mvcc.Log, first, end int64) {
	w := c.working
	w.mu.Lock()
	defer w.mu.Unlock()
	shrunk := false
	for seq := first; seq < end; seq++ {
		v := log.At(seq)
		if prev := v.Prev.Swap(nil); prev != nil {
			w.mu.quota.forgotten(prev)
			c.bury(prev)
		}
		if v.Deleted {
			c.bury(v)
			if e, ok := w.mu.tree.Get(v.KV().Key); ok && e.Cut(v) {
				w.mu.tree.Delete(v.KV().Key)
				shrunk = true
			}
		}
	}
	if shrunk {
		// Groups that are being written may publish an older tree after this one. It shows entries
		// that hold a tombstone, and hides no entry.
		c.published.replaceTree(w.mu.tree.Copy())
	}
}

// bury records that the record of v is garbage. c.mu is held.
func (c *compactor) bury(v *mvcc.Version) {
	if c.engine != nil {
		c.engine.Discard(v, &c.mu.garbage)
	}
}

// ring wakes the cleaner.
func (c *compactor) ring() {
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

// dead returns a copy of the known garbage.
func (c *compactor) dead() engine.Garbage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.Copy()
}

// removed records that records are off the disk.
func (c *compactor) removed(records []engine.Dead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.garbage.Remove(records)
}

// muchGarbage reports whether there is much garbage.
func (c *compactor) muchGarbage() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.Much(c.engine.Kept())
}

// manyGraves reports whether a large part of the garbage is graves.
func (c *compactor) manyGraves() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.ManyGraves(c.engine.Kept())
}
