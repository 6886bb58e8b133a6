package podcontrol

import (
	"sync"
	"time"

	"fairlead.dev/controller"
)

// Backoff gives pauses per key that double from First up to Max, for checks of state that has no events.
type Backoff struct {
	First, Max time.Duration
	mu         struct {
		sync.Mutex
		next map[controller.Key]time.Duration
	}
}

// Next returns the next pause.
func (b *Backoff) Next(k controller.Key) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next == nil {
		b.mu.next = make(map[controller.Key]time.Duration)
	}
	d := max(b.First, b.mu.next[k])
	b.mu.next[k] = min(2*d, b.Max)
	return d
}

// Forget resets the key to First.
func (b *Backoff) Forget(k controller.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.mu.next, k)
}
