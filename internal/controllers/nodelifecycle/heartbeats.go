package nodelifecycle

import (
	"sync"
	"time"
)

// heartbeatTimes holds when each node's last heartbeat was seen, by the local clock: the nodes' clocks may be wrong.
type heartbeatTimes struct {
	mu struct {
		sync.Mutex
		nodes map[string]*voice
	}
}

type voice struct {
	last time.Time
	// valid is the duration of the node's Lease.
	valid time.Duration
	// lost means that the heartbeat stopped while the node was ready, and that its pods have not all been marked
	// yet.
	lost bool
}

// know adds a node whose last heartbeat was at that time, with the duration of its Lease.
func (h *heartbeatTimes) know(node string, last time.Time, valid time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.nodes == nil {
		h.mu.nodes = make(map[string]*voice)
	}
	h.mu.nodes[node] = &voice{last: last, valid: valid}
}

// from records a heartbeat of a node, if the node is known.
func (h *heartbeatTimes) from(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.last = time.Now()
	}
}

// fromLease records a heartbeat of a node, if it is known, by a Lease of that duration. It reports whether the previous
// Lease was longer.
func (h *heartbeatTimes) fromLease(node string, valid time.Duration) (shorter bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.last, shorter, v.valid = time.Now(), valid < v.valid, valid
	}
	return shorter
}

// fromAll records a heartbeat for every node, so that all get their full grace period.
func (h *heartbeatTimes) fromAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.mu.nodes {
		v.last = time.Now()
	}
}

// last returns the time since a node's last heartbeat, and the duration of its Lease.
func (h *heartbeatTimes) last(node string) (ago, valid time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		return time.Since(v.last), v.valid
	}
	return 0, 0
}

func (h *heartbeatTimes) setLost(node string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.lost = lost
	}
}

func (h *heartbeatTimes) isLost(node string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.mu.nodes[node]
	return v != nil && v.lost
}

func (h *heartbeatTimes) forget(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mu.nodes, node)
}
