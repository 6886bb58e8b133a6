package write

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/storage"
)

// eventLeases hands out leases of one TTL for objects that expire. Keys written within a twentieth of the TTL share a
// lease, which lives that much longer, so no key expires early.
type eventLeases struct {
	mu struct {
		sync.Mutex
		id    storage.LeaseID
		until time.Time // from then on a new one is used
	}
}

func (l *eventLeases) lease(ctx context.Context, s storage.Leaser, ttl time.Duration) (storage.LeaseID, error) {
	if ttl <= 0 { // for ever
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.mu.id != 0 && now.Before(l.mu.until) {
		return l.mu.id, nil
	}
	shared := ttl / 20
	got, err := s.Grant(ctx, 0, ttl+shared)
	if err != nil {
		return 0, err
	}
	l.mu.id, l.mu.until = got.ID, now.Add(shared)
	return got.ID, nil
}

// forget stops handing out a lease that has expired.
func (l *eventLeases) forget(id storage.LeaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.id == id {
		l.mu.id = 0
	}
}
