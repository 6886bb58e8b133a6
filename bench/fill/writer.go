package main

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	writers = 16  // at once
	batch   = 100 // operations of a transaction; etcd allows 128
)

// writer puts keys in transactions, several at once.
type writer struct {
	ctx  context.Context
	end  context.CancelCauseFunc
	work chan []clientv3.Op
	done sync.WaitGroup
	ops  []clientv3.Op
}

func newWriter(ctx context.Context, c *clientv3.Client) *writer {
	w := &writer{work: make(chan []clientv3.Op, writers)}
	w.ctx, w.end = context.WithCancelCause(ctx)
	for range writers {
		w.done.Go(func() {
			for ops := range w.work {
				if _, err := c.Txn(w.ctx).Then(ops...).Commit(); err != nil {
					w.end(err)
				}
			}
		})
	}
	return w
}

func (w *writer) put(key, value string) {
	w.ops = append(w.ops, clientv3.OpPut(key, value))
	if len(w.ops) == batch {
		w.work <- w.ops
		w.ops = nil
	}
}

// err returns the first error, nil without one.
func (w *writer) err() error { return context.Cause(w.ctx) }

// close waits for all writes.
func (w *writer) close() error {
	if len(w.ops) > 0 {
		w.work <- w.ops
	}
	close(w.work)
	w.done.Wait()
	err := w.err()
	w.end(nil)
	return err
}
