package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// causes holds the events for which keys are in the queue. An event is noted and its key enqueued in one step, and a
// reconcile begins and takes its key's events in one step: so no key is enqueued whose events another reconcile has.
type causes struct {
	log *trace.Log // nil without a trace
	mu  struct {
		sync.Mutex
		of map[Key]*cause
	}
}

type cause struct {
	handed    trace.Instant
	due       trace.Instant // when the controller wants the key: at once, or after a delay of its own
	revisions []int64
	listed    bool // all revisions are from the initial list
}

// add enqueues a key for an event, by enqueue, after a delay.
func (cs *causes) add(k Key, obj client.Object, listed bool, d time.Duration, enqueue func()) {
	if cs.log == nil || obj == nil {
		enqueue()
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.note(k, trace.Revision(obj.GetResourceVersion()), listed, d)
	enqueue()
}

// note records an event; cs.mu is held.
func (cs *causes) note(k Key, rev int64, listed bool, d time.Duration) {
	now := cs.log.Now()
	due := now + trace.Instant(max(d, 0))
	if cs.mu.of == nil {
		cs.mu.of = map[Key]*cause{}
	}
	c := cs.mu.of[k]
	if c == nil {
		c = &cause{handed: now, due: due, listed: true}
		cs.mu.of[k] = c
	}
	c.due = min(c.due, due)
	c.note(rev)
	c.listed = c.listed && listed
}

func (c *cause) note(rev int64) {
	switch n := len(c.revisions); {
	case n > 0 && c.revisions[n-1] == rev:
	case n < trace.MaxCauses:
		c.revisions = append(c.revisions, rev)
	default:
		c.revisions[n-1] = rev
	}
}

// pass enqueues a key, by enqueue, after a delay, for the causes of a reconcile's context.
func (cs *causes) pass(ctx context.Context, k Key, d time.Duration, enqueue func()) {
	p := trace.FromContext(ctx)
	if p == nil || cs.log == nil {
		enqueue()
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, rev := range p.Causes {
		cs.note(k, rev, false, d)
	}
	enqueue()
}

// take begins the reconcile of a key, by begin, and removes and returns the key's causes.
func (cs *causes) take(k Key, begin func()) *cause {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	begin()
	c := cs.mu.of[k]
	delete(cs.mu.of, k)
	if c == nil {
		c = &cause{}
	}
	return c
}

// giveBack undoes take; causes that arrived meanwhile follow.
func (cs *causes) giveBack(k Key, c *cause) {
	if len(c.revisions) == 0 {
		return
	}
	// the failed attempt keeps its own
	again := &cause{handed: c.handed, due: c.due, revisions: slices.Clone(c.revisions), listed: c.listed}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if later := cs.mu.of[k]; later != nil {
		for _, rev := range later.revisions {
			again.note(rev)
		}
		again.listed = again.listed && later.listed
	}
	cs.mu.of[k] = again
}

// EnqueueFor is Enqueue caused by an event with the given object: the trace of the reconcile's writes leads back to
// the event. A nil obj stands for no event.
func (c *Controller) EnqueueFor(k Key, obj client.Object) {
	c.causes.add(k, obj, false, 0, func() { c.Enqueue(k) })
}

// EnqueueForAfter is EnqueueAfter caused by an event.
func (c *Controller) EnqueueForAfter(k Key, obj client.Object, d time.Duration) {
	c.causes.add(k, obj, false, d, func() { c.EnqueueAfter(k, d) })
}

// EnqueueFrom is Enqueue by a reconcile, of this or another controller, with its context: it inherits that
// reconcile's causes.
func (c *Controller) EnqueueFrom(ctx context.Context, k Key) {
	c.causes.pass(ctx, k, 0, func() { c.Enqueue(k) })
}

// EnqueueFromAfter is EnqueueAfter by a reconcile.
func (c *Controller) EnqueueFromAfter(ctx context.Context, k Key, d time.Duration) {
	c.causes.pass(ctx, k, d, func() { c.EnqueueAfter(k, d) })
}

// shown registers the queue with the trace.
func (c *Controller) shown(l *trace.Log) {
	l.RegisterQueue(c.name, func() trace.Queue {
		s := c.queue.Stats()
		if !c.started.Load() {
			s.Working = 1
		}
		return trace.Queue{
			Depth: s.Depth, Working: s.Working, Delayed: s.Delayed, Next: s.Next, Volatile: c.o.Volatile,
			Adds: s.Adds, Retries: s.Retries, Unfinished: s.Unfinished, Longest: s.Longest,
		}
	})
}

// traced reconciles a key and records it in the trace.
func (c *Controller) traced(ctx context.Context, k Key) (res Result, err error) {
	l := c.causes.log
	begin := func() { c.queue.Begin(k) }
	if l == nil {
		begin()
		return c.look(ctx, k)
	}
	why := c.causes.take(k, begin)
	w := &trace.Reconcile{Controller: c.name, Key: k.String(), Causes: why.revisions, Handed: why.handed, Listed: why.listed}
	w.Delay = time.Duration(min(why.due, l.Now()) - why.handed)
	err = l.Do(ctx, w, func(ctx context.Context) (err error) {
		res, err = c.look(ctx, k)
		w.After, w.Failures, w.Conflict = res.RequeueAfter, c.queue.Failures(k), isConflict(err)
		return err
	})
	if err != nil { // the next attempt has the same causes
		c.causes.giveBack(k, why)
	}
	return res, err
}
