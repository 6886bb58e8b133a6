package workqueue

import "context"

// The queue's lock is held for the time of two or three cache misses, which is less than it
// takes to sleep and wake up. So a goroutine that finds it taken tries again a few times
// before it blocks.
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

// unlock releases the lock and then wakes a waiting Get if ring asked for it, since waking
// may take the scheduler microseconds.
func (q *Queue[K]) unlock() {
	if !q.mu.call {
		q.mu.Unlock()
		return
	}
	q.mu.call = false
	q.mu.Unlock()
	q.come.Signal()
}

// wakeOne makes unlock wake one waiting Get, if there is one and none has been woken already.
// The woken goroutine checks whether there is work for more; q.mu is held.
func (q *Queue[K]) wakeOne() {
	if q.mu.waiting > 0 && !q.mu.rung {
		q.mu.rung, q.mu.call = true, true
	}
}

// wait lets go of q.mu until it is called or ctx ends; false means the latter.
func (q *Queue[K]) wait(ctx context.Context, watched bool) bool {
	if !watched && ctx.Done() != nil {
		defer context.AfterFunc(ctx, q.wakeAll)()
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
		q.wakeOne() // it may have been this one that was called
	}
	return false
}

// wakeAll makes all waiting calls check whether their contexts have ended.
func (q *Queue[K]) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.come.Broadcast()
}
