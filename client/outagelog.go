package client

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"
)

// outage is how long a server must not answer before it is logged. Shorter breaks, as when a
// server restarts, are cured by retries.
const outage = time.Second

// outageLog logs, through slog.Default, when a server has stopped answering and when it answers
// again: one line each, however many requests fail in between. It is safe for concurrent use.
type outageLog struct {
	server string
	lost   atomic.Pointer[outageState] // nil while the server answers
}

// outageState is a time in which no request has been answered.
type outageState struct {
	since  time.Time
	logged atomic.Bool
}

// failed notes that a request was not answered.
func (c *outageLog) failed(err error) {
	var request *url.Error
	if !IsUnreachable(err) || !errors.As(err, &request) {
		return
	}
	now := time.Now()
	l := c.lost.Load()
	if l == nil {
		l = &outageState{since: now}
		c.lost.CompareAndSwap(nil, l)
		return
	}
	if now.Sub(l.since) >= outage && l.logged.CompareAndSwap(false, true) {
		slog.Warn("the API server does not answer", "server", c.server, "since", l.since.Format(time.TimeOnly), "err", request.Err)
	}
}

// answered notes that a request was answered.
func (c *outageLog) answered() {
	if c.lost.Load() == nil {
		return
	}
	if l := c.lost.Swap(nil); l != nil && l.logged.Load() {
		slog.Warn("the API server answers again", "server", c.server, "after", time.Since(l.since).Round(time.Second))
	}
}

// IsUnreachable reports whether err means that no answer came from the server: it could not
// be reached, or the connection broke. A request whose context ended does not count. The client
// logs a server that it cannot reach, so callers that try again need not.
func IsUnreachable(err error) bool {
	var request *url.Error
	return errors.As(err, &request) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
