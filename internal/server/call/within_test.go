package call

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestWithin: the context is like one of context.WithTimeout, whether its end is waited for from the beginning or later.
func TestWithin(t *testing.T) {
	type key struct{}
	begin := func(c *Call) (ctx context.Context, end context.CancelFunc) {
		end = c.Within(time.Minute)
		return c.Context, end
	}
	parent := func() (*Call, context.CancelCauseFunc) {
		ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "v"))
		return &Call{Context: ctx}, cancel
	}
	for name, test := range map[string]func(t *testing.T){
		"timeout while it is waited for": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			ctx, end := begin(c)
			defer end()
			begun := time.Now()
			<-ctx.Done()
			if time.Since(begun) != time.Minute || ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
				t.Errorf("after %v: %v, %v", time.Since(begun), ctx.Err(), context.Cause(ctx))
			}
		},
		"timeout that is looked at later": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			ctx, end := begin(c)
			defer end()
			time.Sleep(time.Minute - time.Nanosecond)
			if ctx.Err() != nil {
				t.Errorf("before it: %v", ctx.Err())
			}
			time.Sleep(time.Nanosecond)
			if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
				t.Errorf("%v, %v", ctx.Err(), context.Cause(ctx))
			}
			<-ctx.Done()
		},
		"the parent ends": func(t *testing.T) {
			c, cancel := parent()
			ctx, end := begin(c)
			defer end()
			child, stop := context.WithCancel(ctx)
			defer stop()
			gone := errors.New("gone")
			cancel(gone)
			<-child.Done()
			if ctx.Err() != context.Canceled || context.Cause(ctx) != gone || context.Cause(child) != gone {
				t.Errorf("%v, %v, %v", ctx.Err(), context.Cause(ctx), context.Cause(child))
			}
		},
		"the call ends": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			ctx, end := begin(c)
			end()
			<-ctx.Done()
			if ctx.Err() != context.Canceled || ctx.Value(key{}) != "v" {
				t.Errorf("%v, %v", ctx.Err(), ctx.Value(key{}))
			}
		},
		"the call ends while its end is waited for": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			ctx, end := begin(c)
			time.AfterFunc(time.Second, end)
			<-ctx.Done()
			if ctx.Err() != context.Canceled {
				t.Error(ctx.Err())
			}
		},
		"values and deadline": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			var stop context.CancelFunc
			c.Context, stop = context.WithTimeout(c.Context, time.Second)
			defer stop()
			sooner, _ := c.Context.Deadline()
			ctx, end := begin(c)
			defer end()
			if until, ok := ctx.Deadline(); !ok || !until.Equal(sooner) || ctx.Value(key{}) != "v" {
				t.Errorf("%v, %v, %v", until, ok, ctx.Value(key{}))
			}
		},
		"the request's deadline is sooner": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			c.Deadline = time.Now().Add(time.Second)
			before := c.Context
			if ctx, _ := begin(c); ctx != before {
				t.Error("the context has changed")
			}
		},
		"the client's timeout is sooner": func(t *testing.T) {
			c, cancel := parent()
			defer cancel(nil)
			c.Timeout = time.Second
			ctx, end := begin(c)
			defer end()
			if until, _ := ctx.Deadline(); time.Until(until) != time.Second {
				t.Errorf("%v", time.Until(until))
			}
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}
