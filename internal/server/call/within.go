package call

import (
	"context"
	"sync"
	"time"
)

// Within bounds the rest of the call's work to d, or to the client's timeout if that is less. It leaves the context alone
// if the request's own deadline comes sooner: with two timers for the same instant, the handler could begin a
// response that the deadline then cuts off.
func (c *Call) Within(d time.Duration) context.CancelFunc {
	if !c.Deadline.IsZero() && time.Until(c.Deadline) <= d {
		return func() {}
	}
	if c.Timeout > 0 {
		d = min(d, c.Timeout)
	}
	b := &bounded{Context: c.Context, until: time.Now().Add(d)}
	c.Context = b
	return b.end
}

// bounded is a context with a deadline. It makes a timer when its end is waited for, since most calls are over before they wait.
type bounded struct {
	context.Context // the parent
	until           time.Time

	mu     sync.Mutex
	ended  bool
	timed  context.Context // nil before its end is waited for
	cancel context.CancelFunc
}

// current returns the context that does the work: that with the timer, if it is there or wanted, else the parent.
func (b *bounded) current(wanted bool) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timed == nil && (wanted || b.ended || !time.Now().Before(b.until)) {
		b.timed, b.cancel = context.WithDeadline(b.Context, b.until)
		if b.ended {
			b.cancel()
		}
	}
	if b.timed == nil {
		return b.Context
	}
	return b.timed
}

func (b *bounded) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.cancel != nil {
		b.cancel()
	}
}

func (b *bounded) Deadline() (time.Time, bool) {
	if until, ok := b.Context.Deadline(); ok && until.Before(b.until) {
		return until, true
	}
	return b.until, true
}

func (b *bounded) Done() <-chan struct{} { return b.current(true).Done() }
func (b *bounded) Err() error            { return b.current(false).Err() }
func (b *bounded) Value(key any) any     { return b.current(false).Value(key) }
