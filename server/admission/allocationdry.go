package admission

import (
	"errors"
	"fmt"
	"slices"
)

// A dry run takes nothing. It is told of what is outside of the ranges and of ports
// that others have, and is given numbers that stand for those that it would get.

func (t *allocation) tryTake(h holding) error {
	if h.port != 0 {
		return t.tryPort(h)
	}
	for _, r := range t.a.mu.addresses {
		if r.prefix.Addr().Is4() != h.ip.Is4() {
			continue
		}
		if _, err := r.index(h.ip); err != nil {
			return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", h.ip, r.prefix)
		}
	}
	return nil
}

func (t *allocation) tryPort(h holding) error {
	if slices.Contains(held(t.old), h) || slices.Contains(t.taken, h) {
		return nil
	}
	if p, n, err := t.a.pool(h); err == nil && p != nil {
		if owner, ok := p.owners[n]; ok && owner != t.owner && !t.stale(owner, h) {
			return errors.New("provided port is already allocated")
		}
	}
	t.taken = append(t.taken, h)
	return nil
}

// somePort is a number that nobody asked for.
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
