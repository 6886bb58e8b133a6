package storage

import "errors"

// Errors that every Store returns, wrapped with what led to them.
var (
	// ErrCompacted: the history that was asked for is gone.
	ErrCompacted = errors.New("revision has been compacted")
	// ErrFutureRevision: the revision asked for is not there yet.
	ErrFutureRevision = errors.New("revision is a future revision")
	// ErrInvalid: the transaction is malformed; nothing was written.
	ErrInvalid = errors.New("invalid transaction")
	// ErrTooLarge: the transaction holds more bytes than the store takes; nothing
	// was written.
	ErrTooLarge = errors.New("request is too large")
	// ErrNotWritten: the write was refused and is certain not to have happened.
	ErrNotWritten = errors.New("not written")
	// ErrUnavailable: the store cannot answer now; whether a write happened is
	// unknown.
	ErrUnavailable = errors.New("storage unavailable")
	// ErrLeaseNotFound: there is no such lease, or not any more.
	ErrLeaseNotFound = errors.New("lease not found")
	// ErrLeaseExists: a lease with this ID exists.
	ErrLeaseExists = errors.New("lease already exists")
	// ErrClosed: the store or the cursor is closed.
	ErrClosed = errors.New("closed")
)
