package follow

import (
	"errors"
	"slices"

	"fairlead.dev/storage"
)

// Feed applies one batch and loads the sinks that failed to load when they were added. It returns
// the number of events and the bell that rings for the next ones, nil while the store cannot be
// followed. The caller holds the lock.
func (f *Follower) Feed() (n int, bell <-chan struct{}, err error) {
	n, err = f.step()
	if err == nil {
		err = f.loadMissing()
	}
	if f.mu.cursor != nil {
		bell = f.mu.cursor.Bell()
	}
	return n, bell, err
}

// Add adds the sink of the keys with a prefix, which ends in a slash, and loads it. If the store
// fails, Feed and WaitFor try again.
func (f *Follower) Add(prefix string, s Sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.sinks[prefix] = s
	f.begin(prefix)
}

// Reload loads the sink again, unless it has been removed.
func (f *Follower) Reload(prefix string, s Sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.sinks[prefix] == s {
		f.begin(prefix)
		f.wakeFeeder()
	}
}

// begin loads a sink, or leaves that to Feed and WaitFor if the store fails.
func (f *Follower) begin(prefix string) {
	if f.fill(prefix) != nil && !slices.Contains(f.mu.unloaded, prefix) {
		f.mu.unloaded = append(f.mu.unloaded, prefix)
		f.wakeFeeder()
	}
}

// Remove ends the sink, unless another one has taken its place.
func (f *Follower) Remove(prefix string, s Sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.sinks[prefix] != s {
		return
	}
	delete(f.mu.sinks, prefix)
	f.mu.unloaded = slices.DeleteFunc(f.mu.unloaded, func(other string) bool { return other == prefix })
	s.End()
	f.wakeFeeder()
}

// loadMissing loads the sinks that failed to load when they were added.
func (f *Follower) loadMissing() error {
	for len(f.mu.unloaded) > 0 {
		prefix := f.mu.unloaded[0]
		if err := f.fill(prefix); err != nil {
			return err
		}
		// fill may have loaded all sinks again.
		f.mu.unloaded = slices.DeleteFunc(f.mu.unloaded, func(other string) bool { return other == prefix })
	}
	return nil
}

// fill loads one sink as of the follower's revision. If that is compacted, the follower is behind:
// it applies the events that the store has and, if that is not enough, asks for more and fails, to
// be tried again.
func (f *Follower) fill(prefix string) error {
	if f.mu.sinks[prefix].Begin(f.Revision()) {
		return nil
	}
	l, err := f.load(prefix, f.Revision())
	if errors.Is(err, storage.ErrCompacted) && f.Advance(f.store.Revision()) == nil {
		if l, err = f.load(prefix, f.Revision()); errors.Is(err, storage.ErrCompacted) {
			f.want(f.store.Revision())
		}
	}
	if err == nil {
		l.Done()
	}
	return err
}
