package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/storage"
)

// lost gives up the cursor for a reason. A closed store stays closed: all sinks end.
func (f *Follower) lost(err error) {
	if f.mu.cursor != nil {
		f.mu.cursor.Close()
		f.mu.cursor = nil
	}
	f.mu.err = err
	f.mu.retryAt = time.Time{}
	switch {
	case errors.Is(err, storage.ErrClosed):
		for _, s := range f.mu.sinks {
			s.End()
		}
		for _, w := range f.mu.waiters {
			close(w.done)
		}
		f.mu.waiters = nil
	case errors.Is(err, storage.ErrCompacted):
		f.mu.stale = true
	}
	f.wakeFeeder()
}

// open makes sure that there is a cursor. It first tries to continue at the last one's revision, so
// that watchers go on; if the history in between is compacted, all sinks are loaded again and all
// watchers expire.
func (f *Follower) open() error {
	if f.mu.cursor != nil {
		return nil
	}
	if errors.Is(f.mu.err, storage.ErrClosed) {
		return f.mu.err
	}
	if now := time.Now(); now.Before(f.mu.retryAt) {
		return f.mu.err
	}
	err := f.reopen()
	if err != nil {
		if !errors.Is(err, storage.ErrClosed) && !errors.Is(err, storage.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		f.lost(err)
		f.mu.retryAt = time.Now().Add(RetryAfter)
	}
	return err
}

func (f *Follower) reopen() error {
	if !f.mu.stale {
		cursor, err := f.watch(f.Revision())
		if err == nil {
			f.mu.cursor, f.mu.err = cursor, nil
			for _, w := range f.mu.waiters {
				cursor.Want(w.rev)
			}
			f.wakeFeeder()
			return nil
		}
		if !errors.Is(err, storage.ErrCompacted) {
			return err
		}
	}
	return f.rebuild()
}

// rebuild loads every sink as of the store's current revision.
func (f *Follower) rebuild() error {
	rev, err := f.store.Current(context.Background())
	if err != nil {
		return err
	}
	cursor, err := f.watch(rev)
	if err != nil {
		return err
	}
	loads := make([]Load, 0, len(f.mu.sinks))
	for prefix := range f.mu.sinks {
		l, err := f.load(prefix, rev)
		if err != nil {
			cursor.Close()
			return err
		}
		loads = append(loads, l)
	}
	for _, l := range loads {
		l.Done()
	}
	f.mu.cursor, f.mu.err, f.mu.stale, f.mu.unloaded = cursor, nil, false, nil
	f.rebuilds.Add(1)
	if rev < f.Revision() {
		// The store was restored to an older state.
		f.applied.Store(int64(rev))
	}
	f.publish(rev)
	f.wakeFeeder()
	return nil
}

// load loads a sink, up to the call of Done.
func (f *Follower) load(prefix string, rev storage.Revision) (Load, error) {
	l := f.mu.sinks[prefix].Load(rev)
	return l, Read(context.Background(), f.store, prefix, rev, l.Add)
}
