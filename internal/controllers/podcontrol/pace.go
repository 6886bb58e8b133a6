package podcontrol

import (
	"sync"
	"time"

	"fairlead.dev/controller"
)

// Pace spreads the work of a key that many events ask for. The first event
// after a quiet spell is served at once; those that follow within Every wait
// for the rest of it, together. A rollout of thousands of pods then costs some
// tens of passes a second and not one per pod, and a single change still costs
// no wait.
type Pace struct {
	Every time.Duration
	mu    struct {
		sync.Mutex
		last map[controller.Key]time.Time
	}
}

// Delay says how long an event for the key should wait now.
func (p *Pace) Delay(k controller.Key) time.Duration {
	p.mu.Lock()
	last, ok := p.mu.last[k]
	p.mu.Unlock()
	if !ok {
		return 0
	}
	return max(0, p.Every-time.Since(last))
}

// Mark notes that the key is being worked on now.
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
