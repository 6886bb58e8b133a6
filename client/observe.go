package client

import (
	"context"
	"net/http"
	"time"
)

// Exchange is one attempt to send a request, and its result. A retry is another Exchange,
// and so is a request that a guard refused.
type Exchange struct {
	Method  string
	Host    string // of the server, with its port
	Path    string
	Attempt int           // 0 for the first sending
	Waited  time.Duration // for the rate limiter, before
	Took    time.Duration // from sending until the answer was read; of a stream, until it began
	Code    int           // of the response; 0 without a response
	Err     error         // if there was no response, or it could not be read
	// Sent and Received are the bytes of the two bodies; Received is 0 for a stream.
	Sent, Received int
}

// observed calls the observer, if there is one, for a request that began at begun.
func (r *REST) observed(ctx context.Context, x Exchange, begun time.Time) {
	if r.observe != nil {
		x.Took = time.Since(begun)
		r.observe(ctx, x)
	}
}

type guardKey struct{}

// WithWriteGuard returns a context whose requests are sent only while check returns nil;
// otherwise they fail with its error. check is called immediately before each attempt to
// send a request other than GET, on the sending goroutine. Package leader guards a leader's
// work, so that a process that slept beyond the end of its lease does not write. Guards of
// nested contexts are all checked.
func WithWriteGuard(ctx context.Context, check func() error) context.Context {
	if outer, ok := ctx.Value(guardKey{}).(func() error); ok {
		inner := check
		check = func() error {
			if err := outer(); err != nil {
				return err
			}
			return inner()
		}
	}
	return context.WithValue(ctx, guardKey{}, check)
}

func guarded(ctx context.Context, method string) error {
	if method == http.MethodGet {
		return nil
	}
	if check, ok := ctx.Value(guardKey{}).(func() error); ok {
		return check()
	}
	return nil
}
