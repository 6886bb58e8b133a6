package volumes

import "sync"

// bell wakes all who wait for a change.
type bell struct {
	mu struct {
		sync.Mutex
		next chan struct{} // nil: nobody waits
	}
}

// wait returns what is closed at the next change.
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
