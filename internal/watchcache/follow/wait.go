package follow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/storage"
)

// maxWait bounds the wait for a revision in the future.
const maxWait = 3 * time.Second

// A TooNewError reports that a revision was not reached within 3 seconds.
type TooNewError struct{ Requested, Current storage.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("revision %d is ahead of the present one, %d", e.Requested, e.Current)
}

// WaitFor returns once the sinks are complete up to rev. It applies the events that the store has
// itself, and waits only for revisions that the store does not have yet: up to 3 seconds, then it
// fails with a *TooNewError. Other errors: storage.ErrUnavailable, storage.ErrClosed, the
// context's.
func (f *Follower) WaitFor(ctx context.Context, rev storage.Revision) error {
	if f.Revision() >= rev {
		return nil
	}
	f.mu.Lock()
	err := f.Advance(rev)
	if err != nil || f.Revision() >= rev {
		f.mu.Unlock()
		return err
	}
	w := &waiter{rev, make(chan struct{})}
	f.mu.waiters = append(f.mu.waiters, w)
	f.want(rev)
	f.mu.Unlock()
	err = f.wait(ctx, w)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.Revision() < rev {
		err = f.mu.err // the store was closed
	}
	if i := slices.Index(f.mu.waiters, w); i >= 0 {
		f.mu.waiters = slices.Delete(f.mu.waiters, i, i+1)
	}
	return err
}

// wait returns when w's revision is reached. The first that hears the store's bell, a reader or the
// feeder, applies the new events.
func (f *Follower) wait(ctx context.Context, w *waiter) error {
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	for {
		select {
		case <-w.done:
			return nil
		case <-f.bell():
			f.mu.Lock()
			err := f.Advance(w.rev)
			if err == nil {
				_ = f.loadMissing() // a failure is returned to the readers of the sink that is missing
			}
			f.wakeFeeder()
			f.mu.Unlock()
			if err != nil {
				return err
			}
		case <-timeout.C:
			return &TooNewError{w.rev, f.Revision()}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// bell returns the store's bell, nil while the store cannot be followed.
func (f *Follower) bell() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.cursor == nil {
		return nil
	}
	return f.mu.cursor.Bell()
}
