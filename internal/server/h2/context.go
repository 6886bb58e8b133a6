package h2

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of a request: its connection's, until the request ends. Its Done channel is made on
// first use, because most requests end before any caller asks for it.
type requestContext struct {
	base context.Context

	mu    sync.Mutex // guards the rest
	err   error
	done  chan struct{}
	funcs map[*func()]struct{}
}

func (r *requestContext) Deadline() (time.Time, bool) { return r.base.Deadline() }
func (r *requestContext) Value(key any) any           { return r.base.Value(key) }

func (r *requestContext) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *requestContext) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if r.err != nil {
			close(r.done)
		}
	}
	return r.done
}

// AfterFunc is the method that package context looks for in foreign contexts. Without it, each child context would
// start a goroutine.
func (r *requestContext) AfterFunc(f func()) (stop func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		go f()
		return func() bool { return false }
	}
	if r.funcs == nil {
		r.funcs = map[*func()]struct{}{}
	}
	key := &f
	r.funcs[key] = struct{}{}
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, waiting := r.funcs[key]
		delete(r.funcs, key)
		return waiting
	}
}

// cancel ends the context.
func (r *requestContext) cancel() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.err = context.Canceled
	if r.done != nil {
		close(r.done)
	}
	for f := range r.funcs {
		go (*f)()
	}
	r.funcs = nil
}
