package podcontrol

import (
	"sync"
	"time"

	"fairlead.dev/controller"
)

// Pace limits the rate of passes for a key with many events. The first event after a pause is served at once; those
// that follow within Every wait for the rest of it, together. A rollout of thousands of pods then costs some tens
// of passes a second instead of one per pod, and a single change is not delayed.
type Pace struct {
	Every time.Duration
	mu    struct {
		sync.Mutex
		last map[controller.Key]time.Time
	}
}

// Delay returns how long an event for the key should wait now.
func (p *Pace) Delay(k controller.Key) time.Duration {
	p.mu.Lock()
	last, ok := p.mu.last[k]
	p.mu.Unlock()
	if !ok {
		return 0
	}
	return max(0, p.Every-time.Since(last))
}

// Mark records that the key is being processed now.
func (p *Pace) Mark(k controller.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.last == nil {
		p.mu.last = make(map[controller.Key]time.Time)
	}
	p.mu.last[k] = time.Now()
}

// Forget drops the key, once its object is gone.
func (p *Pace) Forget(k controller.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.last, k)
}
