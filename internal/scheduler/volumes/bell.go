package volumes

import "sync"

// A bell wakes all goroutines that wait for a change.
type bell struct {
	mu struct {
		sync.Mutex
		next chan struct{} // nil: no goroutine waits
	}
}

// wait returns a channel that is closed at the next change.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next == nil {
		b.mu.next = make(chan struct{})
	}
	return b.mu.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.next != nil {
		close(b.mu.next)
		b.mu.next = nil
	}
}
