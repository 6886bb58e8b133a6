package workqueue

import (
	"context"
	"sync"
	"time"
)

// Options configure a Queue. The zero value is ready to use.
type Options struct {
	// Name tells the queue from others in metrics.
	Name string
	// BaseDelay is what Retry waits after a key's first failure; it doubles with each
	// further one. Zero means 5ms.
	BaseDelay time.Duration
	// MaxDelay bounds what Retry waits. Zero means 1000s.
	MaxDelay time.Duration
	// Metrics, if set, is told what happens. Without it no times are taken.
	Metrics Metrics
}

// Metrics is told what happens in a queue. Its methods are called with the queue's
// lock held: they must be quick and must not call the queue.
type Metrics interface {
	// Added tells that a key became ready; depth is how many now are.
	Added(depth int)
	// Got tells that a worker took a key that had been ready for waited.
	Got(depth int, waited time.Duration)
	// Finished tells that a worker called Done after working for worked.
	Finished(worked time.Duration)
	// Retried tells that Retry was called.
	Retried()
}

// Queue is a set of keys waiting for workers; the package comment has its promises.
type Queue[K comparable] struct {
	o    Options
	bell chan struct{} // one slot: something may be ready. Whoever takes the ring and leaves more rings again

	mu struct {
		sync.Mutex
		ready    deque[K]
		state    map[K]state // keys that are ready, being worked on, or both
		again    int         // how many keys are working|ready
		failures map[K]int
		since    map[K]time.Time // when the key became ready or work began; only with Metrics
		delays   delays[K]
		timer    *time.Timer // fires at the head of delays
		waiting  int         // how many Gets wait for the bell
		closed   bool
	}
}

type state uint8

const (
	ready state = 1 << iota
	working
)

// New returns an empty queue.
func New[K comparable](o Options) *Queue[K] {
	if o.BaseDelay <= 0 {
		o.BaseDelay = 5 * time.Millisecond
	}
	if o.MaxDelay <= 0 {
		o.MaxDelay = 1000 * time.Second
	}
	q := &Queue[K]{o: o, bell: make(chan struct{}, 1)}
	q.mu.state = map[K]state{}
	q.mu.failures = map[K]int{}
	q.mu.delays.at = map[K]int{}
	if o.Metrics != nil {
		q.mu.since = map[K]time.Time{}
	}
	return q
}

// Add makes k ready. It does nothing if k is ready already or the queue is closed.
func (q *Queue[K]) Add(k K) {
	q.mu.Lock()
	if !q.mu.closed {
		q.add(k)
	}
	q.mu.Unlock()
}

// add makes k ready; q.mu is held.
func (q *Queue[K]) add(k K) {
	switch q.mu.state[k] {
	case 0:
		q.mu.state[k] = ready
		q.push(k)
	case working:
		q.mu.state[k] = working | ready
		q.mu.again++
	}
}

func (q *Queue[K]) push(k K) {
	q.mu.ready.push(k)
	if m := q.o.Metrics; m != nil {
		q.mu.since[k] = time.Now()
		m.Added(q.mu.ready.n)
	}
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
	for q.mu.ready.n == 0 {
		if q.mu.closed && q.mu.again == 0 {
			q.ring() // the next waiter sees the same
			return k, false
		}
		if !q.wait(ctx) {
			return k, false
		}
	}
	k = q.mu.ready.pop()
	q.mu.state[k] = working
	if q.mu.ready.n > 0 || q.mu.closed {
		q.ring()
	}
	if m := q.o.Metrics; m != nil {
		now := time.Now()
		m.Got(q.mu.ready.n, now.Sub(q.mu.since[k]))
		q.mu.since[k] = now
	}
	return k, true
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
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.mu.state[k]
	if s&working == 0 {
		return
	}
	if m := q.o.Metrics; m != nil {
		m.Finished(time.Since(q.mu.since[k]))
		delete(q.mu.since, k)
	}
	if s&ready == 0 {
		delete(q.mu.state, k)
		return
	}
	q.mu.state[k] = ready
	q.mu.again--
	q.push(k)
}

// Len returns how many keys are ready and not yet taken.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.ready.n
}

// Close begins the drain: later adds are dropped and so are delayed keys; keys ready
// by now, and those added again while being worked on, are still handed out; then Get
// returns false. Closing twice is allowed.
func (q *Queue[K]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.closed = true
	if q.mu.timer != nil {
		q.mu.timer.Stop()
	}
	q.mu.delays.clear()
	q.ring()
}
