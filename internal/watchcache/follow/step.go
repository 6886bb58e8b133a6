package follow

import (
	"strings"
	"time"

	"fairlead.dev/storage"
)

// step applies one batch, and publishes it when all of it is applied. It returns the number of
// events.
func (f *Follower) step() (int, error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	b, err := f.mu.cursor.Next()
	if err != nil {
		f.lost(err)
		return 0, f.open()
	}
	if len(b.Events) > 0 {
		now := time.Now().UnixNano()
		for i := range b.Events {
			ev := &b.Events[i]
			if s := f.sinkOf(ev.KV.Key); s != nil {
				s.Apply(ev, now)
			}
		}
	}
	f.publish(b.Progress)
	return len(b.Events), nil
}

// sinkOf finds the sink of a key: the one with the longest prefix.
func (f *Follower) sinkOf(key string) Sink {
	for i := strings.LastIndexByte(key, '/'); i >= 0; i = strings.LastIndexByte(key[:i], '/') {
		if s := f.mu.sinks[key[:i+1]]; s != nil {
			return s
		}
	}
	return nil
}

// Advance applies batches until target or the present end of the log. The caller holds the lock.
func (f *Follower) Advance(target storage.Revision) error {
	for f.Revision() < target {
		n, err := f.step()
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	return nil
}
