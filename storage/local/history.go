package local

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/storage"
)

// A mark records that all revisions up to rev were committed by the time at.
type mark struct {
	rev storage.Revision
	at  time.Time
}

// The compactor drops history by age. From time to time its goroutine marks the current revision,
// on disk too, and compacts to the youngest mark that is older than Options.History. So history is
// kept a little longer than that, and a restart, after which only the marks are known, makes it
// longer by at most one tick. With FsyncInterval or NoSync a second goroutine syncs.
type compactor struct {
	store   *Store
	ctx     context.Context // ends with stop
	quit    context.CancelFunc
	running sync.WaitGroup

	// mu is held while compacting.
	mu struct {
		sync.Mutex
		marks []mark
		// garbage is the compacted records that are on disk.
		garbage garbage
	}
	// cleaning is held while tables are rewritten. Taken before mu.
	cleaning sync.Mutex
	// bell rings when there may be enough garbage for the cleaner.
	bell chan struct{}
}

func startCompactor(s *Store, img *image) *compactor {
	c := &compactor{store: s, bell: make(chan struct{}, 1)}
	c.ctx, c.quit = context.WithCancel(context.Background())
	c.mu.marks, c.mu.garbage = img.marks, img.garbage
	if h := s.opts.History; h > 0 {
		c.every(min(max(h/30, 10*time.Millisecond), 10*time.Second), c.age)
	}
	if s.engine != nil {
		c.running.Go(c.cleaner)
		c.ring()
	}
	if s.engine != nil && (s.opts.Fsync == FsyncInterval || s.opts.Fsync == FsyncAlways && len(s.opts.NoSync) > 0) {
		c.every(syncInterval, func(time.Time) error { return s.engine.flush() })
	}
	return c
}

// every calls f periodically until stop, or until the store has failed.
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

// age marks the current revision and compacts history that is too old.
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

// ring wakes the cleaner.
func (c *compactor) ring() {
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

// cleaner rewrites tables whenever there is enough garbage.
func (c *compactor) cleaner() {
	for c.store.Err() == nil {
		select {
		case <-c.ctx.Done():
			return
		case <-c.bell:
		}
		err := c.store.engine.tidy(c.ctx)
		if err == nil {
			err = c.clean(c.ctx, sweep{share: 4}, c.muchGarbage)
		}
		if err == nil && c.manyGraves() {
			err = c.clean(c.ctx, sweep{all: true}, func() bool { return true })
		}
		if err != nil {
			c.store.fail(err)
		}
	}
}
