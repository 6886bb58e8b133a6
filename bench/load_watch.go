package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func podsOfNode(node, revision string) string {
	return "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D" + node + "&resourceVersion=" + revision
}

// idleWatches reports the growth of the server's memory for each watch without events, its
// share of the connection included. A connection's worth of watches comes and goes before,
// so that one-time memory is not counted.
func idleWatches(ctx context.Context, b *bench) ([]figure, error) {
	if err := b.settle(ctx); err != nil {
		return nil, err
	}
	revision, err := b.revision(ctx, podsPath)
	if err != nil {
		return nil, err
	}
	path := func(i int) string { return podsOfNode(fmt.Sprintf("idle-%d", i), revision) }
	_, end, err := b.watchers(ctx, b.PerConn, path)
	if err != nil {
		return nil, err
	}
	end()
	if err := sleep(ctx, pause); err != nil {
		return nil, err
	}
	before, err := b.server.resident()
	if err != nil {
		return nil, err
	}
	open, done, err := b.watchers(ctx, b.Idle, path)
	if err != nil {
		return nil, err
	}
	defer done()
	var ended atomic.Int64
	for _, f := range open {
		go func() {
			f.next()
			ended.Add(1)
		}()
	}
	if err := sleep(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	after, err := b.server.resident()
	if n := ended.Load(); n > 0 && err == nil {
		err = fmt.Errorf("%d watches have ended or seen something", n)
	}
	return []figure{{"idle-watch", float64(after-before) / 1024 / float64(b.Idle)}}, err
}

// watchList has many read all pods at once, as informers do.
func watchList(ctx context.Context, b *bench) ([]figure, error) {
	const path = podsPath + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	cs := make([]*client, b.Streams)
	for i := range cs {
		c, err := b.dial(ctx)
		if err != nil {
			return nil, err
		}
		defer c.close()
		cs[i] = c
	}
	cpu, _, err := b.spent(func() error {
		return each(ctx, b.Streams, b.Streams, func(ctx context.Context, i int) error {
			f, err := cs[i].watch(ctx, path)
			if err != nil {
				return err
			}
			defer f.close()
			for n := 0; ; n++ {
				e, err := f.next()
				if err != nil {
					return err
				}
				if e.expect("ADDED") != nil {
					return errors.Join(e.expect("BOOKMARK"), counted(n, b.Pods))
				}
			}
		})
	})
	return []figure{{"watchlist", ms(cpu) / float64(b.Streams)}}, err
}

// fanOut has one writer change a pod, and many watch all pods.
func fanOut(ctx context.Context, b *bench) ([]figure, error) {
	revision, err := b.revision(ctx, podsPath)
	if err != nil {
		return nil, err
	}
	cpu, wall, late, err := b.fan(ctx, podsPath+"?watch=1&resourceVersion="+revision, "fan-", podPath(0))
	if err != nil {
		return nil, err
	}
	return []figure{
		{"fan-out", us(cpu) / float64(len(late))},
		{"fan-out-rate", float64(len(late)) / wall.Seconds()},
		{"fan-out-p50", ms(late[len(late)/2])},
		{"fan-out-p99", ms(late[len(late)*99/100])},
	}, nil
}

// fan has one writer change a pod as fast as it is answered, and the watchers of a path see each change, in order. late has the times
// from a write to its readers, in ascending order.
func (b *bench) fan(ctx context.Context, path, mark, pod string) (cpu, wall time.Duration, late []time.Duration, err error) {
	open, done, err := b.watchers(ctx, b.Watchers, func(int) string { return path })
	if err != nil {
		return 0, 0, nil, err
	}
	defer done()
	var (
		begin = time.Now()
		sent  = make([]atomic.Int64, b.Events) // since begin
	)
	late = make([]time.Duration, b.Events*b.Watchers)
	write := func(ctx context.Context) error {
		for e := range b.Events {
			sent[e].Store(int64(time.Since(begin)))
			if err := b.conn(0).call(ctx, patchOf(pod, mark+strconv.Itoa(e))); err != nil {
				return err
			}
		}
		return nil
	}
	read := func(i int) error {
		for e := range b.Events {
			ev, err := open[i].next()
			if err == nil {
				err = ev.of(mark + strconv.Itoa(e))
			}
			if err != nil {
				return fmt.Errorf("watcher %d, event %d: %w", i, e, err)
			}
			late[i*b.Events+e] = time.Since(begin) - time.Duration(sent[e].Load())
		}
		return nil
	}
	cpu, wall, err = b.spent(func() error {
		return each(ctx, b.Watchers+1, b.Watchers+1, func(ctx context.Context, i int) error {
			defer context.AfterFunc(ctx, done)() // a failure ends the others
			if i == b.Watchers {
				return write(ctx)
			}
			return read(i)
		})
	})
	slices.Sort(late)
	return cpu, wall, late, err
}

// of fails unless the event is the change that the patch made.
func (e event) of(seq string) error {
	if err := e.expect("MODIFIED"); err != nil {
		return err
	}
	if got := e.seq(); got != seq {
		return fmt.Errorf("want patch %s, got %q", seq, got)
	}
	return nil
}

// ownNode has as many watchers as nodes, as kubelets are, and one pod of each
// node changed once.
func ownNode(ctx context.Context, b *bench) ([]figure, error) {
	revision, err := b.revision(ctx, podsPath)
	if err != nil {
		return nil, err
	}
	open, done, err := b.watchers(ctx, b.Nodes, func(i int) string { return podsOfNode(nodeName(i), revision) })
	if err != nil {
		return nil, err
	}
	defer done()
	cpu, _, _, err := b.patchEach(ctx, open, done, podPath, "node-")
	return []figure{{"own-node", us(cpu) / float64(b.Nodes)}}, err
}

// patchEach patches the pod of each watcher once, which sees that change and no other. late has the times from a write to its
// reader, in ascending order. mark differs from that of earlier calls, so that each patch is a change. After an error, and a minute
// after the last patch, it calls done, which ends the watchers.
func (b *bench) patchEach(ctx context.Context, open []*frames, done func(), pod func(i int) string, mark string) (cpu, wall time.Duration, late []time.Duration, err error) {
	sent := make([]atomic.Int64, len(open)) // since begin
	late = make([]time.Duration, len(open))
	begin := time.Now()
	cpu, wall, err = b.spent(func() error {
		var seen sync.WaitGroup
		failed := make([]error, len(open))
		for i, f := range open {
			seen.Go(func() {
				ev, err := f.next()
				if err == nil {
					err = ev.of(mark + strconv.Itoa(i))
				}
				failed[i], late[i] = err, time.Since(begin)-time.Duration(sent[i].Load())
			})
		}
		err := each(ctx, len(open), writers, func(ctx context.Context, i int) error {
			sent[i].Store(int64(time.Since(begin)))
			return b.conn(i).call(ctx, patchOf(pod(i), mark+strconv.Itoa(i)))
		})
		if err != nil {
			done() // ends the readers
		}
		defer time.AfterFunc(time.Minute, done).Stop()
		seen.Wait()
		if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 && err == nil {
			err = fmt.Errorf("watcher %d: %w", i, failed[i])
		}
		return err
	})
	slices.Sort(late)
	return cpu, wall, late, err
}
