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
	// lost means that the heartbeat stopped while the node was ready, and that its pods have not all been marked
	// yet.
	lost bool
}

// know adds a node whose last heartbeat was at that time.
func (h *heartbeatTimes) know(node string, last time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.nodes == nil {
		h.mu.nodes = make(map[string]*voice)
	}
	h.mu.nodes[node] = &voice{last: last}
}

// from records a heartbeat of a node, if the node is known.
func (h *heartbeatTimes) from(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		v.last = time.Now()
	}
}

// fromAll records a heartbeat for every node, so that all get their full grace period.
func (h *heartbeatTimes) fromAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.mu.nodes {
		v.last = time.Now()
	}
}

// ago returns the time since a node's last heartbeat.
func (h *heartbeatTimes) ago(node string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.mu.nodes[node]; v != nil {
		return time.Since(v.last)
	}
	return 0
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
