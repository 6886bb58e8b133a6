package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/informer"
	"fairlead.dev/trace"
	"fairlead.dev/workqueue"
)

// Result is returned by a successful Reconcile.
type Result struct {
	// RequeueAfter, if positive, requeues the key after that time even without an event.
	RequeueAfter time.Duration
}

// Reconcile brings the actual state closer to the desired state of the object named by k, which may no longer
// exist. An error is logged, unless it is a conflict of resource versions, and the key is retried with backoff,
// unless the error is Terminal. If an object cannot be created because its namespace is terminating, the call
// counts as a success. A key is reconciled again only when the informers that the controller watches have seen the
// writes of its last reconcile, or after 5 s.
type Reconcile func(ctx context.Context, k Key) (Result, error)

// Options configure a Controller. The zero value is ready to use.
type Options struct {
	// Workers is the number of concurrent reconciles. Zero means 4.
	Workers int
	// MaxRetries is the number of retries of a failing key until it is dropped, to return with its next event. Zero
	// means unlimited.
	MaxRetries int
	// Queue configures the queue; its name is the controller's if empty.
	Queue workqueue.Options[Key]
	// Log receives errors. Nil means slog.Default.
	Log *slog.Logger
	// Metrics, if set, exports the metrics of the controller and its queue.
	Metrics *Metrics
	// Volatile reports that the times of delayed keys are known to the queue only: after a restart they begin anew.
	Volatile bool
	// Trace records the effects of events. Nil means the trace of the first watched informer's client.
	Trace *trace.Log
}

// Controller is a queue with its event sources and its workers.
type Controller struct {
	name  string
	r     Reconcile
	o     Options
	queue *workqueue.Queue[Key]
	meter *meter // nil without Options.Metrics

	// started is set when the informers have synced.
	started   atomic.Bool
	panics    atomic.Int64
	causes    causes
	ownWrites ownWrites

	mu struct {
		sync.Mutex
		running bool
		regs    []*informer.Registration
	}
}

// New returns a controller that reconciles with r. It is idle until Run.
func New(name string, r Reconcile, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Log = o.Log.With("controller", name)
	if o.Queue.Name == "" {
		o.Queue.Name = name
	}
	if o.Metrics != nil && o.Queue.Metrics == nil {
		o.Queue.Metrics = o.Metrics.queues
	}
	o.Queue.Times = true // for readers of the queue's state
	c := &Controller{name: name, r: r, o: o, queue: workqueue.New(o.Queue), meter: o.Metrics.of(name, o.Workers), causes: causes{log: o.Trace}}
	c.shown(o.Trace)
	return c
}

// Name returns the controller's name.
func (c *Controller) Name() string { return c.name }

// Enqueue enqueues k.
func (c *Controller) Enqueue(k Key) { c.queue.Add(k) }

// EnqueueAfter enqueues k when d has passed.
func (c *Controller) EnqueueAfter(k Key, d time.Duration) { c.queue.AddAfter(k, d) }

// Failures returns the number of failures of k since its last success.
func (c *Controller) Failures(k Key) int { return c.queue.Failures(k) }

// Panics returns the number of calls of Reconcile that have panicked.
func (c *Controller) Panics() int64 { return c.panics.Load() }

// Run waits until the watched informers have synced, runs the workers until ctx ends, and waits for them. It
// returns nil. The informers themselves are run by their Set or their creator. A controller runs once.
func (c *Controller) Run(ctx context.Context) error {
	c.mu.Lock()
	if c.mu.running {
		c.mu.Unlock()
		return errors.New("controller " + c.name + ": Run called twice")
	}
	c.mu.running = true
	regs := append([]*informer.Registration(nil), c.mu.regs...)
	c.mu.Unlock()
	defer func() {
		for _, r := range regs {
			r.Remove()
		}
		c.queue.Close()
	}()
	for _, r := range regs {
		select {
		case <-r.Synced():
		case <-ctx.Done():
			return nil
		}
	}
	c.started.Store(true)
	var workers sync.WaitGroup
	for range c.o.Workers {
		workers.Go(func() { c.work(ctx) })
	}
	workers.Wait()
	return nil
}

func (c *Controller) work(ctx context.Context) {
	for k := range c.queue.Work(ctx) {
		c.one(ctx, k)
	}
}

// one reconciles a key and decides when it is requeued.
func (c *Controller) one(ctx context.Context, k Key) {
	c.ownWrites.seen(ctx, k)
	noting, keep := c.ownWrites.noting(ctx, k)
	res, err := c.safely(noting, k)
	keep()
	switch {
	case err == nil:
		c.queue.Forget(k)
		if res.RequeueAfter > 0 {
			c.queue.AddAfter(k, res.RequeueAfter)
		}
	case ctx.Err() != nil: // the controller is stopping
	case isTerminal(err):
		c.queue.Forget(k)
		c.o.Log.Error("reconcile failed, not retrying", "key", k.String(), "err", err)
	case c.o.MaxRetries > 0 && c.queue.Failures(k) >= c.o.MaxRetries:
		c.queue.Forget(k)
		c.o.Log.Error("reconcile failed for the last time", "key", k.String(), "err", err)
	default:
		level := slog.LevelWarn
		if isConflict(err) { // ordinary
			level = slog.LevelDebug
		}
		c.o.Log.Log(ctx, level, "reconcile failed", "key", k.String(), "failures", c.queue.Failures(k)+1, "err", err)
		c.queue.Retry(k)
	}
}

// look calls Reconcile. A terminating namespace is not an error and is not retried.
func (c *Controller) look(ctx context.Context, k Key) (Result, error) {
	res, err := c.r(ctx, k)
	if namespaceGoes(err) && !isTerminal(err) {
		c.o.Log.Debug("reconcile stopped, its namespace is terminating", "key", k.String(), "err", err)
		return Result{}, nil
	}
	return res, err
}

// safely calls Reconcile and turns a panic into an error.
func (c *Controller) safely(ctx context.Context, k Key) (res Result, err error) {
	end := c.meter.begin()
	defer func() {
		if p := recover(); p != nil {
			c.panics.Add(1)
			c.meter.panicked()
			err = fmt.Errorf("controller %s: panic: %v", c.name, p)
			c.o.Log.Error("reconcile panicked", "key", k.String(), "panic", p, "stack", string(debug.Stack()))
		}
		end(res, err)
	}()
	return c.traced(ctx, k)
}
