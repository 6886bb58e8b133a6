package client

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	attempts    = 10                     // sendings of one request at most
	brokenDelay = 100 * time.Millisecond // before a GET is repeated on a new connection
)

// retryAfter reports whether the server asks for a retry, and after which time.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < 500 {
		return 0, false
	}
	s, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0, false
	}
	return time.Duration(s) * time.Second, true
}

// broken reports whether err is a broken connection that a new one may replace.
func broken(err error) bool {
	return utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		utilnet.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pause waits before the next attempt. It returns false after the last one.
func pause(ctx context.Context, attempt int, d time.Duration) bool {
	if attempt+1 >= attempts {
		return false
	}
	if dl, ok := ctx.Deadline(); ok && time.Until(dl) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// RetryOnConflict calls f until it returns an error other than a conflict
// (apierrors.IsConflict), or nil, five times at most with short growing pauses, and returns
// f's last result. f should read the object anew each time.
func RetryOnConflict(ctx context.Context, f func() error) error {
	delay := 10 * time.Millisecond
	for i := 0; ; i++ {
		err := f()
		if !apierrors.IsConflict(err) || i == 4 {
			return err
		}
		t := time.NewTimer(delay + rand.N(delay))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
		delay *= 2
	}
}
