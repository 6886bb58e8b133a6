package workqueue

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a Queue. The zero value is ready to use.
type Options[K comparable] struct {
	// Name distinguishes the queue from others in metrics.
	Name string
	// Group, if set, names the group of a key: its namespace, its owner. Groups take
	// turns. It is called with the queue's lock held, must be quick, must not call the
	// queue, and always give the same answer for a key.
	Group func(K) string
	// BaseDelay is Retry's delay after a key's first failure; it doubles with each further
	// one. Zero means 5ms.
	BaseDelay time.Duration
	// MaxDelay limits Retry's delay for one key's failures. Zero means 1000s.
	MaxDelay time.Duration
	// RetryRate is the number of keys per second that Retry makes ready, over all keys:
	// further keys wait longer than their own delay. Zero means no such limit.
	RetryRate float64
	// RetryBurst is how many retries RetryRate lets through at once after a pause. Zero
	// means 1.
	RetryBurst int
	// Metrics, if set, shows the queue to Prometheus.
	Metrics *Metrics
	// Times makes Stats measure how long keys are worked on, as Metrics does too. Without
	// either no times are taken.
	Times bool
}

// Queue is a set of keys waiting for workers; the package comment has its promises.
type Queue[K comparable] struct {
	mu struct {
		sync.Mutex
		// The fields that every Get and Done changes are adjacent, since they move from
		// processor to processor.
		rung    bool  // a waiting Get has been woken and does not run yet
		call    bool  // unlock wakes a waiting Get
		closed  bool  // no more adds
		waiting int32 // how many Gets wait
		working int32 // how many keys are being worked on
		again   int32 // how many of those have been added again
		turns   state // how many keys have been taken, in units of once
		keys    table[K]
		order   order       // the keys that are ready and not being worked on
		delays  delays[K]   // those that become ready later
		counts  counts      // for metrics
		timer   *time.Timer // fires at the head of delays
		retries bucket      // RetryRate
	}
	failing atomic.Int32 // how many keys have failures; changes under mu
	come    sync.Cond    // a key may be ready. A woken Get that leaves more wakes the next
	o       Options[K]
	idle    chan struct{} // closed when the queue is closed and no key is ready or being worked on
	metrics *histograms   // nil without Options.Metrics
	begun   time.Time     // start of the keys' times
}

// New returns an empty queue.
func New[K comparable](o Options[K]) *Queue[K] {
	if o.BaseDelay <= 0 {
		o.BaseDelay = 5 * time.Millisecond
	}
	if o.MaxDelay <= 0 {
		o.MaxDelay = 1000 * time.Second
	}
	q := &Queue[K]{o: o, idle: make(chan struct{}), begun: time.Now()}
	q.come.L = &q.mu
	q.mu.delays.keys = &q.mu.keys
	q.mu.retries = bucket{rate: o.RetryRate, burst: max(1, o.RetryBurst)}
	q.mu.keys.times = o.Times || o.Metrics != nil
	if o.Metrics != nil {
		q.metrics = o.Metrics.watch(o.Name, q)
	}
	return q
}

// Add makes k ready at priority 0. It has no effect if k is ready already, whatever its
// priority, or the queue is closed.
func (q *Queue[K]) Add(k K) { q.AddPriority(k, 0) }

// AddPriority makes k ready at priority p: it comes before all keys of a lower one. A key
// that is ready already is raised to p, never lowered. p is limited to 32 bits: values
// beyond count as the largest or the smallest.
func (q *Queue[K]) AddPriority(k K, p int) {
	h := hash(k)
	q.lock()
	defer q.unlock()
	if !q.mu.closed {
		q.add(q.mu.keys.put(k, h), int32(min(max(p, math.MinInt32), math.MaxInt32)))
	}
}

// add makes the key at i ready at p; q.mu is held.
func (q *Queue[K]) add(i int32, p int32) {
	x := q.mu.keys.at(i)
	switch x.state & (ready | working) {
	case working:
		x.state |= ready
		x.again = p
		q.mu.again++
		q.mu.counts.adds++
	case working | ready:
		x.again = max(x.again, p)
	case 0:
		x.priority = p
		q.mu.counts.adds++
		q.makeReady(i)
	case ready:
		if p > x.priority {
			q.remove(q.lane(x), i)
			x.priority = p
			q.append(i)
		}
	}
}

// makeReady makes the key at i, which is neither ready nor being worked on, ready at its
// priority.
func (q *Queue[K]) makeReady(i int32) {
	q.mu.keys.at(i).state |= ready
	if q.mu.keys.times {
		*q.mu.keys.since(i) = time.Since(q.begun)
	}
	q.append(i)
	q.wakeOne()
}

// Get waits for a ready key and takes it. The caller must call Done(k) when the work
// is over. ok is false when ctx has ended, or when the queue is closed and its last
// ready key has been taken.
func (q *Queue[K]) Get(ctx context.Context) (k K, ok bool) {
	if ctx.Err() != nil {
		return k, false
	}
	q.lock()
	defer q.unlock()
	i := q.take(ctx, false)
	if i == 0 {
		return k, false
	}
	return q.mu.keys.at(i).key, true
}

// take is Get under q.mu, and returns the key's index, or 0. watched reports whether the
// end of ctx already wakes waiting calls.
func (q *Queue[K]) take(ctx context.Context, watched bool) int32 {
	for q.mu.order.n == 0 {
		if q.mu.delays.n > 0 {
			if q.moveDue(time.Since(q.begun), handful); q.mu.order.n > 0 {
				break
			}
		}
		if q.mu.closed && q.mu.again == 0 {
			q.wakeOne() // the next waiter sees the same
			return 0
		}
		if !q.wait(ctx, watched) {
			return 0
		}
	}
	i := q.pop()
	x := q.mu.keys.at(i)
	q.mu.turns += once
	x.state = x.state&flags&^ready | working | q.mu.turns
	q.mu.working++
	if q.mu.order.n > 0 || q.mu.closed {
		q.wakeOne()
	}
	if q.mu.keys.times {
		now, since := time.Since(q.begun), q.mu.keys.since(i)
		if q.metrics != nil {
			q.metrics.waited.Observe((now - *since).Seconds())
		}
		*since = now
	}
	return i
}

// Begin starts the work on k, which a Get returned: a worker calls it before it reads, and the work covers all adds until then, so
// that these lead to no further Get of k. It is useful if the worker waits between both. Begin without a Get has
// no effect.
func (q *Queue[K]) Begin(k K) {
	h := hash(k)
	q.lock()
	defer q.unlock()
	i := q.mu.keys.find(k, h)
	if i == 0 {
		return
	}
	if x := q.mu.keys.at(i); x.state&(ready|working) == ready|working {
		x.state &^= ready
		q.mu.again--
		if q.mu.closed && q.mu.again == 0 {
			q.wakeOne() // no further key will come
		}
	}
}

// Done ends the work on k that a Get began. If k was added meanwhile it is ready again. A
// Done without a Get has no effect.
func (q *Queue[K]) Done(k K) {
	h := hash(k)
	q.lock()
	defer q.unlock()
	if i := q.mu.keys.find(k, h); i != 0 && q.mu.keys.at(i).state&working != 0 {
		q.done(i)
	}
}

// done ends the work on the key at i; q.mu is held.
func (q *Queue[K]) done(i int32) {
	x := q.mu.keys.at(i)
	if q.metrics != nil {
		q.metrics.worked.Observe((time.Since(q.begun) - *q.mu.keys.since(i)).Seconds())
	}
	x.state &^= working
	q.mu.working--
	if x.state&ready != 0 {
		q.mu.again--
		x.priority = x.again
		q.makeReady(i)
		return
	}
	q.release(i)
	q.wakeDrain()
}

// release frees the entry at i if it has no state left; q.mu is held.
func (q *Queue[K]) release(i int32) {
	if x := q.mu.keys.at(i); x.state&doing == 0 && x.failures == 0 {
		q.mu.keys.remove(i)
	}
}

// Len returns how many keys are ready and not yet taken.
func (q *Queue[K]) Len() int {
	q.lock()
	defer q.unlock()
	return q.mu.order.n
}
