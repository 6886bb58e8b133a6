package admission

import (
	"errors"
	"slices"
)

// A dry run has no allocations. Addresses outside of the ranges and ports in use are reported, and placeholders
// stand for the numbers that would be allocated.

func (t *allocation) tryPort(h holding) error {
	if slices.Contains(held(t.old), h) || slices.Contains(t.taken, h) {
		return nil
	}
	if n, err := t.a.port(h); err == nil {
		if owner, ok := t.a.mu.ports.owners[n]; ok && owner != t.owner && !t.stale(owner, h) {
			return errors.New("provided port is already allocated")
		}
	}
	t.taken = append(t.taken, h)
	return nil
}

// somePort returns a placeholder port that is not requested elsewhere.
func (t *allocation) somePort() int32 {
	port := 1 << 15
	for i, h := range t.taken {
		if i == 0 {
			port = 0
		}
		port = max(port, h.port)
	}
	t.taken = append(t.taken, holding{port: port + 1})
	return int32(port + 1)
}
