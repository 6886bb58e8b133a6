package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
)

// Operations on leases are queued among the commits: so a put finds the leases as of its place in
// the log, an answer reveals only durable state, and the end of a lease and of its keys is one
// transaction and one write.

// order queues f as a call.
func (s *Store) order(ctx context.Context, f func(g *group) error) error {
	return s.queue.do(ctx, &call{order: f, done: make(chan struct{})})
}

// Grant implements storage.Leaser.
func (s *Store) Grant(ctx context.Context, id storage.LeaseID, ttl time.Duration) (storage.Lease, error) {
	if id < 0 || ttl <= 0 || ttl > storage.MaxTTL {
		return storage.Lease{}, fmt.Errorf("lease %d with a TTL of %v: %w", id, ttl, storage.ErrInvalid)
	}
	var out storage.Lease
	err := s.order(ctx, func(g *group) error {
		w := &s.working
		if w.mu.leases.Find(id) != nil {
			return leases.Error(id, storage.ErrLeaseExists)
		}
		if id == 0 {
			id = w.mu.leases.FreeID()
		}
		now := time.Now()
		n := w.mu.leases.Grant(id, (ttl + time.Second - 1).Truncate(time.Second), now)
		g.Leases = append(g.Leases, leases.Record{ID: n.ID, TTL: n.TTL})
		s.lessor.wake()
		out = n.Describe(now, false)
		return nil
	})
	if err != nil {
		return storage.Lease{}, err
	}
	return out, nil
}

// Revoke implements storage.Leaser.
func (s *Store) Revoke(ctx context.Context, id storage.LeaseID) error {
	return s.order(ctx, func(g *group) error { return s.working.endLease(id, g) })
}

// KeepAlive implements storage.Leaser.
func (s *Store) KeepAlive(ctx context.Context, id storage.LeaseID) (storage.Lease, error) {
	return s.lease(ctx, id, func(n *leases.Lease, now time.Time) storage.Lease {
		n.Expiry = now.Add(n.TTL)
		return n.Describe(now, false)
	})
}

// Lease implements storage.Leaser.
func (s *Store) Lease(ctx context.Context, id storage.LeaseID) (storage.Lease, error) {
	return s.lease(ctx, id, func(n *leases.Lease, now time.Time) storage.Lease { return n.Describe(now, true) })
}

func (s *Store) lease(ctx context.Context, id storage.LeaseID, f func(*leases.Lease, time.Time) storage.Lease) (storage.Lease, error) {
	var out storage.Lease
	err := s.order(ctx, func(*group) error {
		n := s.working.mu.leases.Find(id)
		if n == nil {
			return leases.Error(id, storage.ErrLeaseNotFound)
		}
		out = f(n, time.Now())
		return nil
	})
	if err != nil {
		return storage.Lease{}, err
	}
	return out, nil
}

// Leases implements storage.Leaser.
func (s *Store) Leases(ctx context.Context) ([]storage.LeaseID, error) {
	var ids []storage.LeaseID
	err := s.order(ctx, func(*group) error {
		all := slices.Collect(maps.Values(s.working.mu.leases.ByID))
		slices.SortFunc(all, func(a, b *leases.Lease) int {
			return cmp.Or(a.Expiry.Compare(b.Expiry), cmp.Compare(a.ID, b.ID))
		})
		for _, l := range all {
			ids = append(ids, l.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}
