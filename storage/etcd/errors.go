package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/storage"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// known are the cluster's answers that reveal the fate of a request.
var known = []struct{ theirs, ours error }{
	{rpctypes.ErrCompacted, storage.ErrCompacted},
	{rpctypes.ErrFutureRev, storage.ErrFutureRevision},
	{rpctypes.ErrEmptyKey, storage.ErrInvalid},
	{rpctypes.ErrDuplicateKey, storage.ErrInvalid},
	{rpctypes.ErrTooManyOps, storage.ErrInvalid},
	{rpctypes.ErrRequestTooLarge, storage.ErrTooLarge},
	{rpctypes.ErrLeaseNotFound, storage.ErrLeaseNotFound},
	{rpctypes.ErrLeaseExist, storage.ErrLeaseExists},
	{rpctypes.ErrLeaseTTLTooLarge, storage.ErrInvalid},
}

// failure translates err into an error of the contract. If the outcome is unknown it is
// ErrUnavailable.
func (s *Store) failure(err error) error {
	if err == nil {
		return nil
	}
	if s.isClosed() {
		return fmt.Errorf("%w: %w", storage.ErrClosed, storage.ErrUnavailable)
	}
	for _, k := range known {
		if errors.Is(err, k.theirs) {
			return fmt.Errorf("%w (%w)", k.ours, err)
		}
	}
	if status.Code(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max") {
		return fmt.Errorf("%w (%w)", storage.ErrTooLarge, err) // more than gRPC carries, refused before the store saw it
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, grpcMessage{err})
}

// grpcMessage is an error of gRPC whose text is the message alone, without gRPC's code. Of a failed connection it is the cause.
type grpcMessage struct{ error }

func (m grpcMessage) Error() string {
	text := status.Convert(m.error).Message()
	if _, cause, ok := strings.Cut(text, `connection error: desc = "transport: `); ok {
		text = strings.TrimSuffix(strings.TrimPrefix(cause, "Error while dialing: "), `"`)
	}
	return text
}
func (m grpcMessage) Unwrap() error { return m.error }

// writeFailure is failure for a write.
func (s *Store) writeFailure(err error) error {
	out := s.failure(err)
	if errors.Is(out, storage.ErrUnavailable) && refused(err) {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, out)
	}
	return out
}

// refused reports that the cluster did not begin with a request: the member knew of no leader to
// send it to, or there is no space, or it is overloaded, or the request is not permitted.
func refused(err error) bool {
	if errors.Is(err, rpctypes.ErrNoLeader) {
		return true
	}
	var e rpctypes.EtcdError
	code := status.Code(err)
	if errors.As(err, &e) {
		code = e.Code()
	}
	switch code {
	case codes.ResourceExhausted, codes.PermissionDenied, codes.Unauthenticated:
		return true
	}
	return false
}

// writable refuses a write that is certain to fail.
func (s *Store) writable(ctx context.Context) error {
	if s.isClosed() {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, storage.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", storage.ErrNotWritten, storage.ErrUnavailable, err)
	}
	return nil
}
