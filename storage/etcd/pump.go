package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"fairlead.dev/storage"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

const (
	// retryAfter is the pause before a watch that broke is taken up again.
	retryAfter = 100 * time.Millisecond
	// stallAfter is how long a member may take to open a watch, or leave requests unanswered for a
	// progress that the cluster has certainly made. Then another member is tried.
	stallAfter = 2 * time.Second
)

var (
	errFull    = errors.New("the cursor is full")
	errBroken  = errors.New("the watch ended")
	errStalled = errors.New("the member is behind or does not answer")
)

// pump feeds the cursor until it ends: by one watch after the other, each from the progress of the
// last one.
func (c *cursor) pump() {
	for c.ctx.Err() == nil {
		err := c.follow()
		switch {
		case c.ctx.Err() != nil:
			return
		case errors.Is(err, storage.ErrCompacted):
			c.fail(err)
			return
		case errors.Is(err, errFull):
			c.awaitRoom()
		default:
			c.store.opts.Logger.Info("a watch of etcd is taken up again", "err", err)
			select {
			case <-time.After(retryAfter):
			case <-c.ctx.Done():
			}
		}
	}
}

func (c *cursor) awaitRoom() {
	for c.ctx.Err() == nil {
		c.mu.Lock()
		full := c.isFull()
		c.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-c.kick:
		case <-c.ctx.Done():
		}
	}
}

// follow runs one watch, and returns why it ended. The metadata of its context gives the watch a
// stream of its own: progress belongs to a stream, and would wait for the slowest watch on it.
func (c *cursor) follow() error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(c.ctx))
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "fairlead-stream", strconv.FormatInt(c.store.streams.Add(1), 10))
	c.mu.Lock()
	after := c.mu.progress
	c.mu.Unlock()
	patience := time.AfterFunc(stallAfter, cancel)
	responses := c.store.client.Watch(ctx, c.span.start, c.watchOptions(after)...)
	if !patience.Stop() {
		return errStalled
	}
	asks := progressRequester{cursor: c, ctx: ctx}
	defer asks.stop()
	asks.requestNow()
	for {
		select {
		case r, ok := <-responses:
			if !ok {
				return errBroken
			}
			if err := c.addEvents(&r); err != nil {
				return err
			}
			if !c.needsEvents() {
				asks.stop()
			}
		case <-c.kick:
			asks.requestNow()
		case <-asks.due():
			if err := asks.request(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *cursor) watchOptions(after storage.Revision) []clientv3.OpOption {
	opts := []clientv3.OpOption{
		clientv3.WithRev(int64(after) + 1),
		clientv3.WithCreatedNotify(),
		clientv3.WithProgressNotify(),
		// A large transaction comes in several messages, which the client puts
		// together again.
		clientv3.WithFragment(),
	}
	if c.span.end != "" {
		opts = append(opts, clientv3.WithRange(c.span.end))
	}
	if c.prev {
		opts = append(opts, clientv3.WithPrevKV())
	}
	if c.empty {
		opts = append(opts, clientv3.WithFilterPut(), clientv3.WithFilterDelete())
	}
	return opts
}

// addEvents adds the events of a response, which holds whole transactions.
func (c *cursor) addEvents(r *clientv3.WatchResponse) error {
	if r.CompactRevision != 0 {
		c.store.observeCompaction(r.CompactRevision)
		return fmt.Errorf("compacted up to %d: %w", r.CompactRevision, storage.ErrCompacted)
	}
	if err := r.Err(); err != nil {
		if errors.Is(err, rpctypes.ErrCompacted) {
			return fmt.Errorf("%w (%w)", storage.ErrCompacted, err)
		}
		return err
	}
	if r.Created {
		c.open.Do(func() { close(c.opened) })
		return nil
	}
	c.store.observeRevision(r.Header.Revision)
	c.mu.Lock()
	defer c.mu.Unlock()
	progress := storage.Revision(r.Header.Revision)
	if len(r.Events) > 0 {
		// The header has the member's revision, not the watch's.
		progress = storage.Revision(r.Events[len(r.Events)-1].Kv.ModRevision)
	}
	for _, e := range r.Events {
		if storage.Revision(e.Kv.ModRevision) <= c.mu.progress {
			continue
		}
		ev, err := c.store.keys.event(e, c.prev)
		if err != nil {
			// Other events of the same transaction must not be seen alone.
			c.cutAbove(storage.Revision(e.Kv.ModRevision) - 1)
			return err
		}
		c.mu.events = append(c.mu.events, ev)
		c.mu.size += size(ev)
	}
	c.mu.progress = max(c.mu.progress, progress)
	if len(r.Events) > 0 || c.mu.wanted > 0 {
		c.ring()
	}
	if c.mu.progress >= c.mu.wanted {
		c.mu.wanted = 0
	}
	if c.isFull() {
		return errFull
	}
	return nil
}

func (c *cursor) needsEvents() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.wanted > 0
}

// cutAbove removes the events above r; mu is held.
func (c *cursor) cutAbove(r storage.Revision) {
	n := len(c.mu.events)
	for n > 0 && c.mu.events[n-1].Revision() > r {
		n--
	}
	c.mu.events = c.mu.events[:n]
	if n > 0 {
		c.mu.progress = max(c.mu.progress, c.mu.events[n-1].Revision())
		c.ring()
	}
}
