package storage

import (
	"context"
	"time"
)

// LeaseID names a lease; 0 is no lease. IDs are positive.
type LeaseID int64

// Lease is the state of a lease at one moment.
type Lease struct {
	ID LeaseID
	// TTL is the life of the lease after a KeepAlive, in whole seconds.
	TTL time.Duration
	// Remaining is the time until the lease expires.
	Remaining time.Duration
	// Keys are the keys bound to it, in order.
	Keys []string
}

// MaxTTL is the longest TTL of a lease.
const MaxTTL = 9_000_000_000 * time.Second

// Leaser has the operations of a Store on leases. See the package comment for their promises.
// Errors of all methods, beside those named: ErrInvalid, and as for Commit.
type Leaser interface {
	// Grant makes a lease. The store chooses an ID if id is 0. The TTL is rounded up to whole
	// seconds, and a Store may make it longer; Lease.TTL is the granted one. Errors:
	// ErrLeaseExists; ErrInvalid for a TTL of 0 or less, or above MaxTTL.
	Grant(ctx context.Context, id LeaseID, ttl time.Duration) (Lease, error)
	// Revoke ends a lease and deletes its keys. Errors: ErrLeaseNotFound.
	Revoke(ctx context.Context, id LeaseID) error
	// KeepAlive gives a lease its full TTL again, and returns it without Keys.
	// Errors: ErrLeaseNotFound.
	KeepAlive(ctx context.Context, id LeaseID) (Lease, error)
	// Lease returns the state of a lease. Errors: ErrLeaseNotFound.
	Lease(ctx context.Context, id LeaseID) (Lease, error)
	// Leases returns the IDs of all leases, if the store knows it in the order in which they end.
	Leases(ctx context.Context) ([]LeaseID, error)
}
