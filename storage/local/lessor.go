package local

import (
	"time"

	"fairlead.dev/storage"
)

// The lessor is the goroutine that ends expired leases. It sleeps until the next one may expire, or
// until a lease is granted.
type lessor struct {
	queue   *queue
	working *working
	failure *failure
	bell    chan struct{}
	quit    chan struct{}
	done    chan struct{}
}

func startLessor(q *queue, w *working, f *failure) *lessor {
	l := &lessor{queue: q, working: w, failure: f, bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *lessor) wake() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

func (l *lessor) stop() {
	close(l.quit)
	<-l.done
}

func (l *lessor) run() {
	defer close(l.done)
	w := l.working
	for l.failure.err() == nil {
		w.mu.Lock()
		ids, next := w.mu.leases.Due(time.Now())
		w.mu.Unlock()
		for _, id := range ids {
			if !l.expire(id) {
				return
			}
		}
		var timer <-chan time.Time
		if next > 0 {
			timer = time.After(next)
		}
		select {
		case <-l.quit:
			return
		case <-l.failure.down:
			return
		case <-l.bell:
		case <-timer:
		}
	}
}

// expire queues the end of a lease without waiting for it. A KeepAlive that comes first prevents
// the end.
func (l *lessor) expire(id storage.LeaseID) bool {
	w := l.working
	return l.queue.put(&call{done: make(chan struct{}), order: func(g *group) error {
		n := w.mu.leases.Find(id)
		if n == nil {
			return nil
		}
		if n.Expiry.After(time.Now()) {
			w.mu.leases.Requeue(n)
			l.wake()
			return nil
		}
		return w.endLease(id, g)
	}})
}
