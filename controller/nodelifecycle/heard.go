package nodelifecycle

import (
	"sync"
	"time"
)

// hearing remembers when each node was last heard of, by our own clock: those
// of the nodes may be wrong.
type hearing struct {
	mu struct {
		sync.Mutex
		last map[string]time.Time
	}
}

func (h *hearing) from(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.last == nil {
		h.mu.last = make(map[string]time.Time)
	}
	h.mu.last[node] = time.Now()
}

// ago tells how long a node has been silent.
func (h *hearing) ago(node string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, ok := h.mu.last[node]
	if !ok {
		return 0
	}
	return time.Since(last)
}

func (h *hearing) forget(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mu.last, node)
}
