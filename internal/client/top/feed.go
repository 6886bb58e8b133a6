package top

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// batchPause bounds how often a stream changes the screen.
	batchPause = 100 * time.Millisecond
	// maxBatch bounds how long one batch keeps the loop busy.
	maxBatch = 2000
	// retryDelay is the pause before a stream that broke is opened again.
	retryDelay = time.Second
)

// batch is a part of a stream: the items since the last one. next waits for the following batch.
type batch[T any] struct {
	id    int // of the stream
	items []T
	next  tea.Cmd
}

// feed returns a command that starts a stream. run emits its items until ctx ends; emit reports whether to go on.
func feed[T any](ctx context.Context, id int, run func(ctx context.Context, emit func(T) bool)) tea.Cmd {
	return func() tea.Msg {
		items := make(chan T, 64)
		go func() {
			defer close(items)
			run(ctx, func(item T) bool {
				select {
				case items <- item:
					return true
				case <-ctx.Done():
					return false
				}
			})
		}()
		return take(ctx, id, items)
	}
}

// take waits for the next items; nil after the last.
func take[T any](ctx context.Context, id int, items <-chan T) tea.Msg {
	first, ok := <-items
	if !ok {
		return nil
	}
	b := batch[T]{id: id, items: []T{first}, next: func() tea.Msg {
		if !sleep(ctx, batchPause) {
			return nil
		}
		return take(ctx, id, items)
	}}
	for len(b.items) < maxBatch {
		select {
		case item, ok := <-items:
			if !ok {
				return b
			}
			b.items = append(b.items, item)
		default:
			return b
		}
	}
	return b
}

// sleep reports whether ctx lasted for d.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// again runs a part of a stream until ctx ends, with a pause after each end. report tells its errors, and whether to try again.
func again(ctx context.Context, part func() error, report func(error) bool) {
	for {
		err := part()
		if ctx.Err() != nil || err != nil && !report(err) || !sleep(ctx, retryDelay) {
			return
		}
	}
}
