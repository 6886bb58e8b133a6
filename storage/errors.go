package storage

import "errors"

// Errors that every Store returns, wrapped with their cause.
var (
	// ErrCompacted: the requested history is compacted.
	ErrCompacted = errors.New("revision has been compacted")
	// ErrFutureRevision: the requested revision does not exist yet.
	ErrFutureRevision = errors.New("revision is a future revision")
	// ErrInvalid: the transaction is malformed and was not written.
	ErrInvalid = errors.New("invalid transaction")
	// ErrTooLarge: the transaction holds more bytes than the store accepts, and was not written.
	ErrTooLarge = errors.New("request is too large")
	// ErrNoSpace: the transaction would make the store larger than it may be, and was not written. The text is etcd's.
	ErrNoSpace = errors.New("etcdserver: mvcc: database space exceeded")
	// ErrNotWritten: the write was refused and has certainly not happened.
	ErrNotWritten = errors.New("not written")
	// ErrUnavailable: the store cannot answer now; whether a write happened is
	// unknown.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrLeaseNotFound: the lease does not exist, or has ended.
	ErrLeaseNotFound = errors.New("lease not found")
	// ErrLeaseExists: a lease with this ID exists.
	ErrLeaseExists = errors.New("lease already exists")
	// ErrClosed: the store or the cursor is closed.
	ErrClosed = errors.New("closed")
)
