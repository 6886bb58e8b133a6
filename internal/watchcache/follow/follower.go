package follow

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
)

// A Sink holds the state of one resource. It is called with the follower's lock held.
type Sink interface {
	// Apply applies an event that was read at now, in Unix nanoseconds. Events come in revision
	// order.
	Apply(ev *storage.Event, now int64)
	// Begin reports whether the sink has the state of a revision, and takes it.
	Begin(rev storage.Revision) bool
	// Load begins to replace the state by the keys that the store held at a revision. The events in between are unknown.
	Load(rev storage.Revision) Load
	// Expire drops what is too old to be kept.
	Expire(now time.Time)
	// End is the last call: the store has been closed or the sink has been removed.
	End()
}

// A Load is a new state of a sink in the making. It is left alone if the store fails before all keys are added.
type Load interface {
	// Add adds the next key. Keys come in order.
	Add(held *storage.Packed)
	// Done replaces the sink's state.
	Done()
}

// A Follower follows the keys below a prefix of a store.
type Follower struct {
	store storage.Store
	root  string
	// applied is the revision up to which every sink is complete.
	applied  atomic.Int64
	rebuilds atomic.Int64
	// wake wakes the feeder when a reader has left work for it.
	wake chan struct{}

	mu struct {
		sync.Mutex
		// cursor is nil while the store cannot be followed, for the reason err.
		cursor  storage.Cursor
		err     error
		retryAt time.Time
		// stale: sinks must be loaded again before the next event.
		stale bool
		// sinks are found by the prefixes of their keys.
		sinks map[string]Sink
		// unloaded are the prefixes of sinks that could not be loaded when they were added.
		unloaded []string
		waiters  []*waiter
	}
}

// A waiter is a call of WaitFor; done is closed when rev has been applied, or never will be.
type waiter struct {
	rev  storage.Revision
	done chan struct{}
}

// RetryAfter is the pause after a failure of the store.
const RetryAfter = 200 * time.Millisecond

// New returns a follower without sinks at the store's current revision. root ends in a slash.
func New(s storage.Store, root string) (*Follower, error) {
	f := &Follower{store: s, root: root, wake: make(chan struct{}, 1)}
	f.mu.sinks = map[string]Sink{}
	rev, err := s.Current(context.Background())
	if err != nil {
		return nil, err
	}
	if f.mu.cursor, err = f.watch(rev); err != nil {
		return nil, err
	}
	f.applied.Store(int64(rev))
	return f, nil
}

// watch opens a cursor after a revision. Its events have no previous versions: the sinks hold these.
func (f *Follower) watch(after storage.Revision) (storage.Cursor, error) {
	return f.store.Watch(storage.WatchRequest{Start: f.root, End: storage.PrefixEnd(f.root), After: after})
}

// Revision returns the revision up to which all sinks are complete.
func (f *Follower) Revision() storage.Revision { return storage.Revision(f.applied.Load()) }

// Rebuilds returns how often all sinks had to be loaded again.
func (f *Follower) Rebuilds() int64 { return f.rebuilds.Load() }

// Err returns why sinks are incomplete or do not follow the store: the store cannot be followed, or
// some sinks could not be loaded. It is nil when all is well.
func (f *Follower) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.mu.cursor == nil && f.mu.err != nil:
		return f.mu.err
	case len(f.mu.unloaded) > 0:
		return fmt.Errorf("%d caches not loaded", len(f.mu.unloaded))
	}
	return nil
}

// Lock keeps events away from the sinks until Unlock. While it is held no batch is half applied.
func (f *Follower) Lock() { f.mu.Lock() }

// Unlock ends Lock.
func (f *Follower) Unlock() { f.mu.Unlock() }

// Expire calls every sink's Expire.
func (f *Follower) Expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.mu.sinks {
		s.Expire(now)
	}
}

// Woken is signalled when Feed has work although the store's bell has not rung.
func (f *Follower) Woken() <-chan struct{} { return f.wake }

func (f *Follower) wakeFeeder() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// want makes the cursor advance to rev and ring its bell, even if no event below the root occurs
// there. A cursor that is opened later is asked again.
func (f *Follower) want(rev storage.Revision) {
	if f.mu.cursor != nil {
		f.mu.cursor.Want(rev)
	}
}

// publish makes all events up to rev visible to readers and to waiters.
func (f *Follower) publish(rev storage.Revision) {
	if rev <= f.Revision() {
		return
	}
	f.applied.Store(int64(rev))
	kept := f.mu.waiters[:0]
	for _, w := range f.mu.waiters {
		if w.rev <= rev {
			close(w.done)
		} else {
			kept = append(kept, w)
		}
	}
	clear(f.mu.waiters[len(kept):])
	f.mu.waiters = kept
}
