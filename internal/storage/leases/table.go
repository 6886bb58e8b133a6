package local

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"fairlead.dev/storage"
)

// A lease is one that has not ended.
type lease struct {
	id     storage.LeaseID
	ttl    time.Duration
	expiry time.Time
	keys   map[string]struct{}
	// queued is the time that the lease is queued for, at most expiry; place is its index in the
	// queue, -1 if it is not queued.
	queued time.Time
	place  int
}

// A leaseRecord is a change of the table of leases to be written: a grant, or an end if ttl is 0.
type leaseRecord struct {
	id  storage.LeaseID
	ttl time.Duration
}

// leases is the table of leases and the queue in which they end. A KeepAlive only moves expiry; a
// lease that comes to the head of the queue too early is queued again.
type leases struct {
	byID  map[storage.LeaseID]*lease
	queue leaseQueue
}

func (l *leases) find(id storage.LeaseID) *lease { return l.byID[id] }

func (l *leases) grant(id storage.LeaseID, ttl time.Duration, now time.Time) *lease {
	if l.byID == nil {
		l.byID = map[storage.LeaseID]*lease{}
	}
	n := &lease{id: id, ttl: ttl, expiry: now.Add(ttl), queued: now.Add(ttl)}
	l.byID[id] = n
	heap.Push(&l.queue, n)
	return n
}

// rebind moves a key from the lease of old to that of kv; either may be nil.
func (l *leases) rebind(old, kv *storage.KeyValue) {
	if old != nil && old.Lease != 0 {
		if from := l.byID[old.Lease]; from != nil {
			delete(from.keys, old.Key)
		}
	}
	if kv == nil || kv.Lease == 0 {
		return
	}
	to := l.byID[kv.Lease]
	if to.keys == nil {
		to.keys = map[string]struct{}{}
	}
	to.keys[kv.Key] = struct{}{}
}

// due returns the leases that have expired, and the time until the next one; 0 without leases.
func (l *leases) due(now time.Time) (ids []storage.LeaseID, next time.Duration) {
	for len(l.queue) > 0 {
		head := l.queue[0]
		switch {
		case head.queued.After(now):
			return ids, head.queued.Sub(now)
		case head.expiry.After(now):
			head.queued = head.expiry
			heap.Fix(&l.queue, 0)
		default:
			ids = append(ids, head.id)
			heap.Pop(&l.queue)
		}
	}
	return ids, 0
}

// requeue queues a lease again that due has taken out.
func (l *leases) requeue(n *lease) {
	n.queued = n.expiry
	heap.Push(&l.queue, n)
}

// end drops a lease.
func (l *leases) end(n *lease) {
	delete(l.byID, n.id)
	if n.place >= 0 {
		heap.Remove(&l.queue, n.place)
	}
}

// free returns an unused ID.
func (l *leases) free() storage.LeaseID {
	for {
		if id := storage.LeaseID(rand.Int64()); id != 0 && l.byID[id] == nil {
			return id
		}
	}
}

// describe describes a lease.
func (n *lease) describe(now time.Time, keys bool) storage.Lease {
	out := storage.Lease{ID: n.id, TTL: n.ttl, Remaining: max(0, n.expiry.Sub(now))}
	if keys {
		for key := range n.keys {
			out.Keys = append(out.Keys, key)
		}
		slices.Sort(out.Keys)
	}
	return out
}

func leaseError(id storage.LeaseID, err error) error {
	return fmt.Errorf("lease %d: %w", id, err)
}

// leaseQueue is a heap by the time a lease is queued for.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].queued.Before(q[j].queued) }
func (q leaseQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *leaseQueue) Push(x any) {
	n := x.(*lease)
	n.place = len(*q)
	*q = append(*q, n)
}
func (q *leaseQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	last.place = -1
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
