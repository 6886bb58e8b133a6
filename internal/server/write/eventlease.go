package write

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/storage"
)

// eventLeases hands out leases of one TTL, in each shard, for objects that expire. Keys written within a twentieth of the TTL share a
// lease, which lives that much longer, so no key expires early.
type eventLeases struct {
	mu struct {
		sync.Mutex
		of map[*endpoint.Shard]eventLease
	}
}

type eventLease struct {
	id    storage.LeaseID
	until time.Time // from then on a new one is used
}

func (l *eventLeases) lease(ctx context.Context, s *endpoint.Shard, ttl time.Duration) (storage.LeaseID, error) {
	if ttl <= 0 { // for ever
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if last, ok := l.mu.of[s]; ok && now.Before(last.until) {
		return last.id, nil
	}
	shared := ttl / 20
	got, err := s.Store.Grant(ctx, 0, ttl+shared)
	if err != nil {
		return 0, err
	}
	if l.mu.of == nil {
		l.mu.of = map[*endpoint.Shard]eventLease{}
	}
	l.mu.of[s] = eventLease{got.ID, now.Add(shared)}
	return got.ID, nil
}

// forget stops handing out a lease that has expired.
func (l *eventLeases) forget(s *endpoint.Shard, id storage.LeaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.of[s].id == id {
		delete(l.mu.of, s)
	}
}
