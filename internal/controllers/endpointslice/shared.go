package endpointslice

import (
	"sync"

	"fairlead.dev/controller"
)

// sharing holds the Services whose endpoints were distributed by the last pass.
type sharing struct {
	mu  sync.Mutex
	all map[controller.Key]bool
}

func (s *sharing) has(k controller.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[k]
}

func (s *sharing) set(k controller.Key, shared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !shared {
		delete(s.all, k)
		return
	}
	if s.all == nil {
		s.all = map[controller.Key]bool{}
	}
	s.all[k] = true
}
