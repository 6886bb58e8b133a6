package local

import (
	"context"
	"sync"
	"time"
)

// upkeep is the goroutines that follow the clock or wait for garbage: those of the compactor, the
// cleaner and, with FsyncInterval or NoSync, the syncer.
type upkeep struct {
	failure *failure
	ctx     context.Context // ends with stop
	quit    context.CancelFunc
	running sync.WaitGroup
}

func (u *upkeep) init(f *failure) {
	u.failure = f
	u.ctx, u.quit = context.WithCancel(context.Background())
}

// start starts the goroutines of a store. cleaner is nil if it is in memory only.
func (u *upkeep) start(o Options, compactor *compactor, cleaner *cleaner) {
	if h := o.History; h > 0 {
		u.every(min(max(h/30, 10*time.Millisecond), 10*time.Second), compactor.age)
	}
	if bell := compactor.working.mu.quota.bell; o.MaxBytes > 0 && bell != nil {
		u.running.Go(func() { compactor.makeRoom(u.ctx.Done(), bell) })
	}
	if cleaner == nil {
		return
	}
	u.running.Go(cleaner.run)
	compactor.ring()
	if o.Fsync == FsyncInterval || o.Fsync == FsyncAlways && len(o.NoSync) > 0 {
		u.every(syncInterval, func(time.Time) error { return cleaner.engine.Flush() })
	}
}

// every calls f periodically until stop, or until the store has failed.
func (u *upkeep) every(pause time.Duration, f func(now time.Time) error) {
	u.running.Go(func() {
		t := time.NewTicker(pause)
		defer t.Stop()
		for u.failure.err() == nil {
			select {
			case <-u.ctx.Done():
				return
			case <-t.C:
			}
			if err := f(time.Now()); err != nil {
				u.failure.fail(err)
			}
		}
	})
}

// stop returns when the goroutines have ended, or hang in the engine.
func (u *upkeep) stop() {
	u.quit()
	done := make(chan struct{})
	go func() {
		u.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-u.failure.down:
	}
}
