package client

import (
	"context"
	"net/http"
	"time"
)

// Exchange is one request that was sent, or was not for want of leave, and what came
// of it. A request that is sent again is an Exchange each time.
type Exchange struct {
	Method  string
	Host    string // of the server, with its port
	Path    string
	Attempt int           // 0 for the first sending
	Waited  time.Duration // for the rate limiter, before
	Took    time.Duration // from sending until the answer was read; of a stream, until it began
	Code    int           // of the answer; 0 if there was none
	Err     error         // why there was none, or why it could not be read
	// Sent and Received are the bytes of the two bodies; Received is 0 for a stream.
	Sent, Received int
}

// observed tells the observer, if there is one, what came of a request that began at
// begun.
func (r *REST) observed(ctx context.Context, x Exchange, begun time.Time) {
	if r.observe != nil {
		x.Took = time.Since(begun)
		r.observe(ctx, x)
	}
}

type guardKey struct{}

// WithWriteGuard returns a context whose requests are sent only while check returns nil;
// otherwise they fail with its error. It is asked immediately before each sending of a
// request that may change something: all but GET. Package leader guards the work of a
// leader so that one that has slept through the end of its lease writes nothing more.
// check is called from any goroutine that sends. Guards add up.
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
