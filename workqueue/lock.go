package workqueue

import "context"

// The queue's lock is held for the time of two or three misses of the cache, which is less
// than the way to sleep and back. So who finds it taken looks again a few times before it
// waits like anybody else.
const looks = 30

func (q *Queue[K]) lock() {
	if !q.mu.TryLock() {
		q.lockBusy()
	}
}

func (q *Queue[K]) lockBusy() {
	for range looks {
		if q.mu.TryLock() {
			return
		}
	}
	q.mu.Lock()
}

// unlock calls one of those who wait if ring wanted so, which may take the scheduler
// microseconds, after it has let go of the lock.
func (q *Queue[K]) unlock() {
	if !q.mu.call {
		q.mu.Unlock()
		return
	}
	q.mu.call = false
	q.mu.Unlock()
	q.come.Signal()
}

// ring has one of those who wait in Get be called, if any do and none is on the way: who
// comes sees for itself whether there is work for more; q.mu is held.
func (q *Queue[K]) ring() {
	if q.mu.waiting > 0 && !q.mu.rung {
		q.mu.rung, q.mu.call = true, true
	}
}

// wait lets go of q.mu until it is called or ctx ends; false means the latter.
func (q *Queue[K]) wait(ctx context.Context, watched bool) bool {
	if !watched && ctx.Done() != nil {
		defer context.AfterFunc(ctx, q.wake)()
	}
	if q.mu.call {
		q.mu.call = false
		q.come.Signal()
	}
	q.mu.waiting++
	q.come.Wait()
	q.mu.waiting--
	q.mu.rung = false
	if ctx.Err() == nil {
		return true
	}
	if q.mu.order.n > 0 || q.mu.closed {
		q.ring() // it may have been this one that was called
	}
	return false
}

// wake has all who wait look whether their contexts have ended.
func (q *Queue[K]) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.come.Broadcast()
}
