package storage

import (
	"context"
	"time"
)

// LeaseID names a lease; 0 is none. IDs are positive.
type LeaseID int64

// Lease is a lease as it stood when it was asked for.
type Lease struct {
	ID LeaseID
	// TTL is how long it lives after a KeepAlive, in whole seconds.
	TTL time.Duration
	// Remaining is how long it has yet to live.
	Remaining time.Duration
	// Keys are the keys bound to it, in order.
	Keys []string
}

// MaxTTL is the longest TTL of a lease.
const MaxTTL = 9_000_000_000 * time.Second

// Leaser is what a Store does with leases. See the package comment for their
// promises. Errors of all methods, beside those named: ErrInvalid, and as for
// Commit.
type Leaser interface {
	// Grant makes a lease. The store chooses an ID if id is 0. The TTL is rounded
	// up to whole seconds, and a Store may make it longer: Lease.TTL says. Errors:
	// ErrLeaseExists; ErrInvalid for a TTL of 0 or less, or above MaxTTL.
	Grant(ctx context.Context, id LeaseID, ttl time.Duration) (Lease, error)
	// Revoke ends a lease and deletes its keys. Errors: ErrLeaseNotFound.
	Revoke(ctx context.Context, id LeaseID) error
	// KeepAlive gives a lease its full TTL again, and returns it without Keys.
	// Errors: ErrLeaseNotFound.
	KeepAlive(ctx context.Context, id LeaseID) (Lease, error)
	// Lease tells of a lease. Errors: ErrLeaseNotFound.
	Lease(ctx context.Context, id LeaseID) (Lease, error)
	// Leases are the IDs of all leases, as far as the store knows in the order in
	// which they end.
	Leases(ctx context.Context) ([]LeaseID, error)
}
