package local

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"
)

// A failure is the first failed write of a store: it makes the store read-only.
type failure struct {
	logger *slog.Logger
	cause  atomic.Pointer[error]
	failed chan struct{} // closed when cause is set
	// down is closed when the engine failed in a way that may leave calls to it hanging. cause is
	// set then, too.
	down chan struct{}
	hung sync.Once
	// opened is set when Open has succeeded: an earlier failure is Open's error, and not logged.
	opened atomic.Bool
	logged sync.Once
}

func (f *failure) init(l *slog.Logger) {
	f.logger, f.failed, f.down = l, make(chan struct{}), make(chan struct{})
}

// err returns the cause, or nil.
func (f *failure) err() error {
	if p := f.cause.Load(); p != nil {
		return *p
	}
	return nil
}

// fail makes the store read-only, permanently.
func (f *failure) fail(err error) {
	err = fmt.Errorf("the store is read-only since a write failed, restart it when the cause is mended: %w", err)
	if f.cause.CompareAndSwap(nil, &err) {
		f.log()
		close(f.failed)
	}
}

// open begins the logging of failures, with one that is there already.
func (f *failure) open() {
	f.opened.Store(true)
	f.log()
}

// log logs, once, why an open store has failed, if it has.
func (f *failure) log() {
	if err := f.err(); err != nil && f.opened.Load() {
		f.logged.Do(func() { f.logger.Error("storage failed", "err", err) })
	}
}

// hang records a failure that the engine noticed outside of our calls; a call in progress may never
// return.
func (f *failure) hang(err error) {
	f.fail(err)
	f.hung.Do(func() { close(f.down) })
}

// await runs call, a call of the engine that may hang, until it returns, ctx ends or the engine
// fails.
func (f *failure) await(ctx context.Context, call func() error) error {
	if err := f.err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	case <-f.down:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, f.err())
	}
}
