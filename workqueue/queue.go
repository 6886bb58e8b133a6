package workqueue

import (
	"context"
	"sync"
	"time"
)

// Options configure a Queue. The zero value is ready to use.
type Options[K comparable] struct {
	// Name tells the queue from others in metrics.
	Name string
	// Group, if set, names the group of a key: its namespace, its owner. Groups take
	// turns. It is called with the queue's lock held, must be quick, must not call the
	// queue, and always give the same answer for a key.
	Group func(K) string
	// BaseDelay is what Retry waits after a key's first failure; it doubles with each
	// further one. Zero means 5ms.
	BaseDelay time.Duration
	// MaxDelay bounds what Retry waits for one key's failures. Zero means 1000s.
	MaxDelay time.Duration
	// RetryRate is how many keys Retry lets back per second, all keys together: what is
	// beyond waits longer than its own failures ask. Zero means no such limit.
	RetryRate float64
	// RetryBurst is how many retries RetryRate lets through at once after a pause. Zero
	// means 1.
	RetryBurst int
	// Metrics, if set, shows the queue to Prometheus. Without it no times are taken.
	Metrics *Metrics
}

// Queue is a set of keys waiting for workers; the package comment has its promises.
type Queue[K comparable] struct {
	o    Options[K]
	bell chan struct{} // one slot: something may be ready. Whoever takes the ring and leaves more rings again
	idle chan struct{} // closed when the queue is closed and nothing is ready or being worked on

	mu struct {
		sync.Mutex
		keys     keys[K]     // those that are ready, being worked on, or both
		order    order       // those that are ready and not being worked on
		working  int         // how many keys are being worked on
		again    int         // how many of those have been added again
		failures keys[K]     // next is how often a key has failed since the last Forget
		delays   delays[K]   // those that become ready later
		timer    *time.Timer // fires at the head of delays
		retries  bucket      // RetryRate
		waiting  int         // how many Gets wait for the bell
		closed   bool        // no more adds
		counts   counts      // for metrics
	}
	metrics *histograms // nil without Options.Metrics
	begun   time.Time   // what times of items count from
}

// New returns an empty queue.
func New[K comparable](o Options[K]) *Queue[K] {
	if o.BaseDelay <= 0 {
		o.BaseDelay = 5 * time.Millisecond
	}
	if o.MaxDelay <= 0 {
		o.MaxDelay = 1000 * time.Second
	}
	q := &Queue[K]{o: o, bell: make(chan struct{}, 1), idle: make(chan struct{}), begun: time.Now()}
	q.mu.retries = bucket{rate: o.RetryRate, burst: max(1, o.RetryBurst)}
	if o.Metrics != nil {
		q.metrics = o.Metrics.watch(o.Name, q)
	}
	return q
}

// Add makes k ready at priority 0. It does nothing if k is ready already, whatever its
// priority, or the queue is closed.
func (q *Queue[K]) Add(k K) { q.AddPriority(k, 0) }

// AddPriority makes k ready at priority p: it comes before all keys of a lower one. A
// key that is ready already is raised to p, never lowered.
func (q *Queue[K]) AddPriority(k K, p int) {
	h := hash(k)
	q.mu.Lock()
	if !q.mu.closed {
		q.add(k, h, p)
	}
	q.mu.Unlock()
}

// add makes k, whose hash is h, ready at p; q.mu is held.
func (q *Queue[K]) add(k K, h uint32, p int) {
	i := q.mu.keys.put(k, h)
	x := q.mu.keys.item(i)
	switch {
	case x.working && !x.ready:
		x.ready, x.next = true, p
		q.mu.again++
		q.mu.counts.adds++
	case x.working:
		x.next = max(x.next, p)
	case !x.ready:
		x.priority = p
		q.mu.counts.adds++
		q.push(i)
	case p > x.priority:
		q.remove(q.lane(x), i)
		x.priority = p
		q.append(i)
	}
}

// push makes the item at i, which is neither ready nor being worked on, ready at its
// priority.
func (q *Queue[K]) push(i int32) {
	x := q.mu.keys.item(i)
	x.ready = true
	if q.metrics != nil {
		x.since = time.Since(q.begun)
	}
	q.append(i)
	q.ring()
}

// ring wakes one of those who wait in Get, if any do; q.mu is held.
func (q *Queue[K]) ring() {
	if q.mu.waiting == 0 {
		return
	}
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// Get waits for a ready key and takes it. The caller must call Done(k) when the work
// is over. ok is false when ctx has ended, or when the queue is closed and its last
// ready key has been taken.
func (q *Queue[K]) Get(ctx context.Context) (k K, ok bool) {
	if ctx.Err() != nil {
		return k, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.take(ctx)
	if i == 0 {
		return k, false
	}
	return q.mu.keys.item(i).key, true
}

// take is Get under q.mu, and returns the item's index, or 0.
func (q *Queue[K]) take(ctx context.Context) int32 {
	for q.mu.order.n == 0 {
		if q.mu.delays.keys.n > 0 {
			if q.ripen(time.Since(q.begun), handful); q.mu.order.n > 0 {
				break
			}
		}
		if q.mu.closed && q.mu.again == 0 {
			q.ring() // the next waiter sees the same
			return 0
		}
		if !q.wait(ctx) {
			return 0
		}
	}
	i := q.pop()
	x := q.mu.keys.item(i)
	x.ready, x.working = false, true
	q.mu.working++
	if q.mu.order.n > 0 || q.mu.closed {
		q.ring()
	}
	if q.metrics != nil {
		now := time.Since(q.begun)
		q.metrics.waited.Observe((now - x.since).Seconds())
		x.since = now
	}
	return i
}

// wait lets go of q.mu until the bell rings or ctx ends; false means the latter.
func (q *Queue[K]) wait(ctx context.Context) bool {
	q.mu.waiting++
	q.mu.Unlock()
	ok := true
	select {
	case <-q.bell:
	case <-ctx.Done():
		ok = false
	}
	q.mu.Lock()
	q.mu.waiting--
	return ok
}

// Done ends the work on k that a Get began. If k was added meanwhile it is ready
// again. A Done without a Get does nothing.
func (q *Queue[K]) Done(k K) {
	h := hash(k)
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.mu.keys.find(k, h); i != 0 && q.mu.keys.item(i).working {
		q.done(i)
	}
}

// done ends the work on the item at i; q.mu is held.
func (q *Queue[K]) done(i int32) {
	x := q.mu.keys.item(i)
	if q.metrics != nil {
		q.metrics.worked.Observe((time.Since(q.begun) - x.since).Seconds())
	}
	x.working = false
	q.mu.working--
	if x.ready {
		q.mu.again--
		x.priority = x.next
		q.push(i)
		return
	}
	q.mu.keys.drop(i)
	q.settle()
}

// Len returns how many keys are ready and not yet taken.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.order.n
}
