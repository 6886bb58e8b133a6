package informer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// Options configure an Informer. The zero value follows all objects.
type Options[T client.Object] struct {
	// Name distinguishes the informer in metrics from others of the same resource.
	Name          string
	Namespace     string // "" for all
	LabelSelector string
	FieldSelector string

	// Indexes by name; each function names the values under which ByIndex finds an
	// object. It must give the same answer for the same object always.
	Indexes map[string]func(T) []string
	// Resync, if positive, is the interval at which each handler gets Update(obj, obj) for
	// every object. It is rarely needed.
	Resync time.Duration
	// WatchTimeout is the least time after which a watch is opened anew; each lasts up to
	// twice as long, at random. Zero means 5 minutes.
	WatchTimeout time.Duration
	// Transform, if set, may change an object before it is stored, to drop parts that are
	// not needed. It runs on the reading goroutine. Without one, equal parts of several
	// objects share memory (client.Resource.Interned).
	Transform func(T) T
	// Log is how many changes are kept for handlers that lag. Zero means 1024.
	Log int
	// OnError, if set, is called with each failure to follow the resource, before the
	// pause that comes before the next attempt. Failures that go on are logged by
	// slog.Default too.
	OnError func(error)
	// OnMutation, if set, is called for each stored object that was changed, with the
	// object, the place where the change was noticed, and the difference. It is for tests:
	// it costs a copy of every object, and comparisons after every call of a handler, when
	// an object leaves the store, and of all objects at the end of Run. It may panic, which
	// ends the process; it must not use the informer.
	OnMutation func(error)
}

// Informer keeps a Store equal to the server's state, and calls handlers with changes.
type Informer[T client.Object] struct {
	r     client.Resource[T]
	o     Options[T]
	store *Store[T]

	// Of Run's goroutine alone.
	from     string // the revision that events have to move on from
	listed   bool   // the store is at a revision that the server should still know
	listOnly bool   // the server does not stream lists
	unpaged  bool   // a paged list expired half way

	trace *trace.Log
	seen  *trace.Informer // its name in the trace

	events, lists, failures atomic.Uint64 // for metrics

	mu struct {
		sync.Mutex
		run     context.Context // nil before Run
		readers sync.WaitGroup
	}
}

// New returns an informer of the resource. Run starts it.
func New[T client.Object](r client.Resource[T], o Options[T]) *Informer[T] {
	if o.Namespace != "" {
		r = r.Namespace(o.Namespace)
	}
	if o.Log <= 0 {
		o.Log = 1024
	}
	s := newStore(o.Log, newGuard[T](o.OnMutation))
	if o.Transform == nil {
		r = r.Interned(s.getBytes)
	}
	i := &Informer[T]{r: r, o: o, store: s}
	i.trace, i.seen = r.Trace(), &trace.Informer{Agent: r.UserAgent(), Namespace: o.Namespace, Labels: o.LabelSelector, Fields: o.FieldSelector}
	for name, f := range o.Indexes {
		i.Index(name, f)
	}
	return i
}

// Run follows the resource until ctx ends; then it waits for the handlers to return,
// and returns nil. An informer runs once.
func (i *Informer[T]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i.mu.Lock()
	if i.mu.run != nil {
		i.mu.Unlock()
		return errors.New("informer: Run called twice")
	}
	i.mu.run = ctx
	for _, rd := range i.store.readers() {
		i.start(rd)
	}
	i.mu.Unlock()
	i.follow(ctx)
	// A goroutine that holds the lock now may still start a reader; one that takes it later
	// sees that ctx has ended and starts none.
	i.mu.Lock()
	//lint:ignore SA2001 passing through the lock is the point
	i.mu.Unlock()
	i.mu.readers.Wait()
	i.store.guard.checkAll()
	return nil
}

// start runs a reader; i.mu is held and i.mu.run is set.
func (i *Informer[T]) start(rd *reader[T]) {
	if i.mu.run.Err() != nil {
		return
	}
	ctx := i.mu.run
	i.mu.readers.Go(func() { rd.run(ctx, i.store, i.o.Resync) })
}

// Synced returns a channel that is closed when the first list is in the store and the
// handlers that were registered by then have processed it.
func (i *Informer[T]) Synced() <-chan struct{} { return i.store.synced }

// Store returns the local copy.
func (i *Informer[T]) Store() *Store[T] { return i.store }

// Index adds an index, before or after Run. A name that is taken already stays with the
// function it has, so that several users of one informer may ask for the same index.
func (i *Informer[T]) Index(name string, f func(T) []string) { i.store.addIndex(name, f) }

// Handle registers a handler, before or after Run. It gets the present state as initial
// Adds, and then the changes.
func (i *Informer[T]) Handle(h Handler[T]) *Registration {
	i.mu.Lock()
	defer i.mu.Unlock()
	rd := i.store.addReader(h)
	if i.mu.run != nil {
		i.start(rd)
	}
	return rd.reg
}

// HasWrite reports whether a written object will be in the store without waiting for a
// bookmark: it is of the same server and resource, and the informer follows all objects of
// its namespace. Then Store().WaitFor waits for its resourceVersion. If the informer has
// not listed yet, HasWrite may send a discovery request.
func (i *Informer[T]) HasWrite(w client.Written) bool {
	if i.o.LabelSelector != "" || i.o.FieldSelector != "" || i.r.Host() != w.Host {
		return false
	}
	if ns := w.Object.GetNamespace(); i.o.Namespace != "" && ns != "" && ns != i.o.Namespace {
		return false
	}
	gvr, err := i.r.GVR(context.Background())
	return err == nil && gvr.GroupResource() == w.Resource
}

func (i *Informer[T]) reportFailure(err error, times int, wait time.Duration) {
	i.failures.Add(1)
	if i.o.OnError != nil {
		i.o.OnError(err)
	}
	level := slog.LevelDebug
	// Short breaks are ordinary, long ones are logged at growing intervals, and a server that
	// does not answer is logged by the client.
	if times >= 4 && times&(times-1) == 0 && !client.IsUnreachable(err) {
		level = slog.LevelWarn
	}
	slog.Log(context.Background(), level, "informer cannot follow its resource",
		"resource", i.name(), "failures", times, "again", wait, "err", err)
}

// Trace is that of the informer's client.
func (i *Informer[T]) Trace() *trace.Log { return i.trace }

// traceArrival stamps an event that is in the store.
func (i *Informer[T]) traceArrival(obj T, opened, read, decoded trace.Instant) {
	if i.trace == nil {
		return
	}
	if i.seen.Resource == "" {
		gvr, _ := i.r.GVR(context.Background()) // known: it has been watched
		i.seen.Resource = gvr.GroupResource().String()
	}
	i.trace.Arrived(i.seen, trace.Revision(obj.GetResourceVersion()), opened, read, decoded, i.trace.Now())
}

func (i *Informer[T]) name() string {
	if k := i.r.GVK(); k.Kind != "" {
		return k.GroupKind().String()
	}
	gvr, _ := i.r.GVR(context.Background()) // known: it is not from For
	return gvr.GroupResource().String()
}
