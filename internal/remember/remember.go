// Package remember caches expensive results for a limited time in bounded memory.
//
// # Concurrency
//
// A Memory may be used from any goroutine.
package remember

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Memory maps the hash of a byte string to a V until it expires. It does not keep the bytes themselves, so a Memory
// of credentials holds no credentials.
type Memory[V any] struct {
	max int
	now func() time.Time
	mu  struct {
		sync.RWMutex
		entries map[[sha256.Size]byte]entry[V]
	}
}

type entry[V any] struct {
	value V
	until time.Time
}

// New returns a Memory of at most max entries; now is its clock, time.Now if
// nil.
func New[V any](max int, now func() time.Time) *Memory[V] {
	if now == nil {
		now = time.Now
	}
	m := &Memory[V]{max: max, now: now}
	m.mu.entries = map[[sha256.Size]byte]entry[V]{}
	return m
}

// Get returns the unexpired value for the bytes.
func (m *Memory[V]) Get(of []byte) (V, bool) {
	key := sha256.Sum256(of)
	m.mu.RLock()
	e, ok := m.mu.entries[key]
	m.mu.RUnlock()
	if !ok || !m.now().Before(e.until) {
		var zero V
		return zero, false
	}
	return e.value, true
}

// Put keeps v for the bytes until the time. If the Memory is full, expired entries are evicted first, then
// arbitrary ones.
func (m *Memory[V]) Put(of []byte, v V, until time.Time) {
	key := sha256.Sum256(of)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mu.entries) >= m.max {
		m.makeRoom()
	}
	m.mu.entries[key] = entry[V]{v, until}
}

func (m *Memory[V]) makeRoom() {
	now := m.now()
	for k, e := range m.mu.entries {
		if !now.Before(e.until) {
			delete(m.mu.entries, k)
		}
	}
	for k := range m.mu.entries {
		if len(m.mu.entries) < m.max {
			return
		}
		delete(m.mu.entries, k)
	}
}
