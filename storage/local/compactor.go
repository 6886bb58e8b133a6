package local

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/storage"
)

// A mark says that all revisions up to rev were committed by the time at.
type mark struct {
	rev storage.Revision
	at  time.Time
}

// The compactor forgets history by age. Its goroutine notes from time to time how
// far the log is, on disk too, and compacts to the youngest such mark that is
// older than the history to keep. So history is kept a little longer than asked
// for, and a restart, which only knows the marks, makes it longer by a tick at
// most. With FsyncInterval or NoSync a second goroutine
// syncs.
type compactor struct {
	store   *Store
	ctx     context.Context // ends with stop
	quit    context.CancelFunc
	running sync.WaitGroup

	// mu is held while compacting.
	mu struct {
		sync.Mutex
		marks []mark
		// garbage is the size of the records deleted since space was made.
		garbage uint64
	}
}

func startCompactor(s *Store, marks []mark) *compactor {
	c := &compactor{store: s}
	c.ctx, c.quit = context.WithCancel(context.Background())
	c.mu.marks = marks
	if h := s.opts.History; h > 0 {
		c.every(min(max(h/30, 10*time.Millisecond), 10*time.Second), c.tick)
	}
	if s.engine != nil && (s.opts.Fsync == FsyncInterval || s.opts.Fsync == FsyncAlways && len(s.opts.NoSync) > 0) {
		c.every(syncInterval, func(time.Time) error { return s.engine.flush() })
	}
	return c
}

// every does f again and again until stop, or until the store has failed.
func (c *compactor) every(pause time.Duration, f func(now time.Time) error) {
	c.running.Go(func() {
		t := time.NewTicker(pause)
		defer t.Stop()
		for c.store.Err() == nil {
			select {
			case <-c.ctx.Done():
				return
			case <-t.C:
			}
			if err := f(time.Now()); err != nil {
				c.store.fail(err)
			}
		}
	})
}

// stop returns when the goroutines have ended, or hang in the engine.
func (c *compactor) stop() {
	c.quit()
	done := make(chan struct{})
	go func() {
		c.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-c.store.down:
	}
}

// tick forgets what is too old, and makes space.
func (c *compactor) tick(now time.Time) error {
	if err := c.age(now); err != nil {
		return err
	}
	return c.space()
}

// age marks how far the log is and compacts what is too old.
func (c *compactor) age(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.store
	rev := s.Revision()
	if n := len(c.mu.marks); rev > 1 && (n == 0 || c.mu.marks[n-1].rev < rev) {
		if s.engine != nil {
			if err := s.engine.mark(rev, now); err != nil {
				return err
			}
		}
		c.mu.marks = append(c.mu.marks, mark{rev, now})
	}
	var old storage.Revision
	for _, m := range c.mu.marks {
		if now.Sub(m.at) < s.opts.History {
			break
		}
		old = m.rev
	}
	if old <= s.Compacted() {
		return nil
	}
	return c.compact(old)
}

// Deleted records take their space until Pebble merges the tables they are in,
// which it may never do by itself if what is live is scattered among them.
const (
	garbageMin   = 32 << 20
	garbageShare = 3 // of the disk used, one in so many
)

// space makes Pebble merge what is compacted, if enough of it is garbage to be
// worth it.
func (c *compactor) space() error {
	e := c.store.engine
	if e == nil {
		return nil
	}
	c.mu.Lock()
	garbage := c.mu.garbage
	c.mu.Unlock()
	if garbage < garbageMin || garbage < e.diskUsage()/garbageShare {
		return nil
	}
	return c.merge(c.ctx, garbage)
}

// merge makes space of so much garbage.
func (c *compactor) merge(ctx context.Context, garbage uint64) error {
	e := c.store.engine
	if err := e.merge(ctx, c.store.Compacted()+1); err != nil {
		return err
	}
	c.mu.Lock()
	c.mu.garbage -= min(garbage, c.mu.garbage)
	c.mu.Unlock()
	return nil
}

// Defragment gives the disk all that compaction has freed, now.
func (s *Store) Defragment(ctx context.Context) error {
	if err := s.Err(); err != nil || s.engine == nil {
		return err
	}
	s.compactor.mu.Lock()
	garbage := s.compactor.mu.garbage
	s.compactor.mu.Unlock()
	return s.compactor.merge(ctx, garbage)
}
