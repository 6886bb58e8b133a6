package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/storage"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Grant implements storage.Store.
func (s *Store) Grant(ctx context.Context, id storage.LeaseID, ttl time.Duration) (storage.Lease, error) {
	if id < 0 || ttl <= 0 || ttl > storage.MaxTTL {
		return storage.Lease{}, fmt.Errorf("lease %d of %v: %w", id, ttl, storage.ErrInvalid)
	}
	if err := s.writable(ctx); err != nil {
		return storage.Lease{}, err
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	// The client's own Grant cannot name the lease.
	res, err := s.leases().LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: int64(id), TTL: int64((ttl + time.Second - 1) / time.Second)})
	if err != nil {
		return storage.Lease{}, s.writeFailure(clientv3.ContextError(ctx, err))
	}
	ttl = time.Duration(res.TTL) * time.Second
	return storage.Lease{ID: storage.LeaseID(res.ID), TTL: ttl, Remaining: ttl}, nil
}

// leases calls the members without the client's retries, which a write must not have.
func (s *Store) leases() pb.LeaseClient { return pb.NewLeaseClient(s.client.ActiveConnection()) }

// Revoke implements storage.Store.
func (s *Store) Revoke(ctx context.Context, id storage.LeaseID) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	res, err := s.leases().LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: int64(id)})
	if err != nil {
		return s.writeFailure(clientv3.ContextError(ctx, err))
	}
	s.observeRevision(res.Header.GetRevision())
	return nil
}

// KeepAlive implements storage.Store.
func (s *Store) KeepAlive(ctx context.Context, id storage.LeaseID) (storage.Lease, error) {
	if err := s.writable(ctx); err != nil {
		return storage.Lease{}, err
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	res, err := s.client.KeepAliveOnce(ctx, clientv3.LeaseID(id))
	if err != nil {
		return storage.Lease{}, s.writeFailure(err)
	}
	ttl := time.Duration(res.TTL) * time.Second
	return storage.Lease{ID: id, TTL: ttl, Remaining: ttl}, nil
}

// Lease implements storage.Store.
func (s *Store) Lease(ctx context.Context, id storage.LeaseID) (storage.Lease, error) {
	if s.isClosed() {
		return storage.Lease{}, storage.ErrClosed
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	res, err := s.client.TimeToLive(ctx, clientv3.LeaseID(id), clientv3.WithAttachedKeys())
	if err != nil {
		return storage.Lease{}, s.failure(err)
	}
	if res.TTL < 0 || res.GrantedTTL <= 0 {
		return storage.Lease{}, fmt.Errorf("lease %d: %w", id, storage.ErrLeaseNotFound)
	}
	l := storage.Lease{
		ID:        id,
		TTL:       time.Duration(res.GrantedTTL) * time.Second,
		Remaining: time.Duration(res.TTL) * time.Second,
	}
	for _, key := range res.Keys {
		if strings.HasPrefix(string(key), s.keys.prefix) {
			l.Keys = append(l.Keys, s.keys.fromCluster(key))
		}
	}
	slices.Sort(l.Keys)
	return l, nil
}

// Leases implements storage.Store. It returns all leases of the cluster, including those of other
// processes.
func (s *Store) Leases(ctx context.Context) ([]storage.LeaseID, error) {
	if s.isClosed() {
		return nil, storage.ErrClosed
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	res, err := s.client.Leases(ctx)
	if err != nil {
		return nil, s.failure(err)
	}
	var ids []storage.LeaseID
	for _, l := range res.Leases {
		ids = append(ids, storage.LeaseID(l.ID))
	}
	return ids, nil
}
