// Package bell wakes goroutines that wait for a change, which they then look up. Its Bell may be used from any
// goroutine.
package bell

import "sync"

// A Bell wakes all goroutines that wait for a change. The zero value is ready to use.
type Bell struct {
	mu struct {
		sync.Mutex
		next chan struct{} // nil: no goroutine waits
	}
}

// Wait returns a channel that is closed at the next change.
func (b *Bell) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next == nil {
		b.mu.next = make(chan struct{})
	}
	return b.mu.next
}

// Ring wakes the goroutines that wait.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next != nil {
		close(b.mu.next)
		b.mu.next = nil
	}
}
