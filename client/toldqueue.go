package client

import (
	"context"
	"sync"
)

// told is an event in the queue of a recorder.
type told interface {
	write(context.Context, *recording)
}

// recorderQueue is how many events a queue takes.
const recorderQueue = 8192

// toldQueue is the queue of a recorder. An empty one holds no memory: a process has a recorder for each controller.
type toldQueue struct {
	bell chan struct{} // of one slot, rung while the queue has events
	mu   sync.Mutex
	all  []told
}

// add reports whether the queue had room for an event.
func (q *toldQueue) add(x told) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == recorderQueue {
		return false
	}
	q.all = append(q.all, x)
	q.ring()
	return true
}

// next takes the first event, nil without one.
func (q *toldQueue) next() told {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == 0 {
		return nil
	}
	x := q.all[0]
	q.all[0] = nil
	if q.all = q.all[1:]; len(q.all) == 0 {
		q.all = nil
	} else {
		q.ring()
	}
	return x
}

func (q *toldQueue) ring() {
	select {
	case q.bell <- struct{}{}:
	default:
	}
}
