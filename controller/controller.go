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

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/trace"
	"fairlead.dev/workqueue"
)

// Key names the object to reconcile; the namespace is "" for cluster-scoped ones, and the
// cluster is for controllers of several, see WatchGroup.
type Key struct{ Cluster, Namespace, Name string }

// String is the key for people: cluster:namespace/name, without what is empty.
func (k Key) String() string {
	s := k.Name
	if k.Namespace != "" {
		s = k.Namespace + "/" + s
	}
	if k.Cluster != "" {
		s = k.Cluster + ":" + s
	}
	return s
}

// Result is what a successful Reconcile asks for.
type Result struct {
	// RequeueAfter, if positive, brings the key back after that time even if nothing
	// changes.
	RequeueAfter time.Duration
}

// Reconcile brings the world closer to what the object named by k asks for. The object
// may be gone. An error, but for a conflict of resource versions, is logged; either way
// the key comes back after a delay that grows, unless the error is Terminal. That something
// cannot be created because its namespace is being deleted counts as a success. Before
// a key is reconciled again, the informers that the controller watches have seen what its
// last reconcile wrote, or have been waited for for 5 s.
type Reconcile func(ctx context.Context, k Key) (Result, error)

// Options configure a Controller. The zero value is ready to use.
type Options struct {
	// Workers is how many keys are reconciled at once. Zero means 4.
	Workers int
	// MaxRetries is how often a key that fails comes back before it is dropped until its
	// next change. Zero means for ever.
	MaxRetries int
	// Queue configures the queue; its name is the controller's if empty.
	Queue workqueue.Options[Key]
	// Log receives failures. Nil means slog.Default.
	Log *slog.Logger
	// Metrics, if set, shows the controller and its queue.
	Metrics *Metrics
	// Trace is told what the controller makes of events. Nil means that of the client of
	// the first informer that it watches.
	Trace *trace.Log
}

// Env is what every built-in controller is given.
type Env struct {
	Client    *client.Client
	Informers *informer.Set
	Recorder  *client.Recorder
	Log       *slog.Logger
}

// Runner is what every built-in controller is: something that runs until ctx ends.
type Runner interface {
	Run(ctx context.Context) error
}

// Controller is a queue, what feeds it and what works it off.
type Controller struct {
	name  string
	r     Reconcile
	o     Options
	queue *workqueue.Queue[Key]
	meter *meter // nil without Options.Metrics

	panics atomic.Int64
	causes causes
	own    own

	mu struct {
		sync.Mutex
		running bool
		regs    []*informer.Registration
	}
}

// New returns a controller that reconciles with r. It does nothing until Run.
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
	o.Queue.Times = true // for what shows the queue
	c := &Controller{name: name, r: r, o: o, queue: workqueue.New(o.Queue), meter: o.Metrics.of(name, o.Workers), causes: causes{log: o.Trace}}
	c.shown(o.Trace)
	return c
}

// Name returns the controller's name.
func (c *Controller) Name() string { return c.name }

// Enqueue asks for k to be reconciled soon.
func (c *Controller) Enqueue(k Key) { c.queue.Add(k) }

// EnqueueAfter asks for k to be reconciled when d has passed.
func (c *Controller) EnqueueAfter(k Key, d time.Duration) { c.queue.AddAfter(k, d) }

// Failures returns how often k has failed since it last succeeded.
func (c *Controller) Failures(k Key) int { return c.queue.Failures(k) }

// Panics returns how many calls of Reconcile have panicked.
func (c *Controller) Panics() int64 { return c.panics.Load() }

// Run waits until the watched informers are synced, runs the workers until ctx ends, and
// waits for them. It returns nil. The informers themselves are run by their Set, or by
// who made them. A controller runs once.
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

// one reconciles a key and settles when it comes back.
func (c *Controller) one(ctx context.Context, k Key) {
	c.own.seen(ctx, k)
	noting, keep := c.own.noting(ctx, k)
	res, err := c.safely(noting, k)
	keep()
	switch {
	case err == nil:
		c.queue.Forget(k)
		if res.RequeueAfter > 0 {
			c.queue.AddAfter(k, res.RequeueAfter)
		}
	case ctx.Err() != nil: // the end, not a failure
	case isTerminal(err):
		c.queue.Forget(k)
		c.o.Log.Error("reconcile failed and is not tried again", "key", k.String(), "err", err)
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

// look calls Reconcile. That the namespace is being deleted is no failure, and not worth
// another try.
func (c *Controller) look(ctx context.Context, k Key) (Result, error) {
	res, err := c.r(ctx, k)
	if namespaceGoes(err) && !isTerminal(err) {
		c.o.Log.Debug("reconcile ends with its namespace", "key", k.String(), "err", err)
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
