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
		nodes map[string]*voice
	}
}

type voice struct {
	last time.Time
	// lost says that the node fell silent while it was ready, and that its pods
	// have not all been marked yet.
	lost bool
}

// know begins with a node that was last heard of at that time.
func (h *hearing) know(node string, last time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.nodes == nil {
		h.mu.nodes = make(map[string]*voice)
	}
	h.mu.nodes[node] = &voice{last: last}
}

// from notes that a node has just been heard of, if there is such a node.
func (h *hearing) from(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.last = time.Now()
	}
}

// fromAll gives every node the benefit of the doubt.
func (h *hearing) fromAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.mu.nodes {
		v.last = time.Now()
	}
}

// ago tells how long a node has been silent.
func (h *hearing) ago(node string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		return time.Since(v.last)
	}
	return 0
}

func (h *hearing) setLost(node string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.lost = lost
	}
}

func (h *hearing) isLost(node string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.mu.nodes[node]
	return v != nil && v.lost
}

func (h *hearing) forget(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mu.nodes, node)
}
