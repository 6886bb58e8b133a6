package watch

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// push writes a stream's frames from a goroutine: while the watch begins, and for good over
// HTTP/1.1 and over a WebSocket.
type push struct {
	ctx context.Context
	w   http.ResponseWriter
	rc  *http.ResponseController
	// unhook stops the end of the request from ringing.
	unhook func() bool
	// since is the time, in nanoseconds, at which the write in progress began; 0 for none. The
	// watchdog reads it. A new deadline for each write would cost more than the write.
	since atomic.Int64
}

// write sends frames, and with flush flushes them to the client.
func (p *push) write(frames []byte, flush bool) error {
	p.since.Store(time.Now().UnixNano())
	defer p.since.Store(0)
	if len(frames) > 0 {
		if _, err := p.w.Write(frames); err != nil {
			return err
		}
	}
	if !flush {
		return nil
	}
	return p.rc.Flush()
}

// cut makes a write that is blocked fail.
func (p *push) cut(now time.Time) error {
	return p.rc.SetWriteDeadline(now.Add(-time.Second)) // which is in the past
}
