package leases

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"fairlead.dev/storage"
)

// A Lease is one that has not ended.
type Lease struct {
	ID     storage.LeaseID
	TTL    time.Duration
	Expiry time.Time
	keys   map[string]struct{}
	// queued is the time that the lease is queued for, at most expiry; place is its index in the
	// queue, -1 if it is not queued.
	queued time.Time
	place  int
}

// A Record is a change of the table of leases to be written: a grant, or an end if TTL is 0.
type Record struct {
	ID  storage.LeaseID
	TTL time.Duration
}

// Table is the table of leases and the queue in which they end. A KeepAlive only moves expiry; a
// lease that comes to the head of the queue too early is queued again.
type Table struct {
	ByID  map[storage.LeaseID]*Lease
	queue expiryQueue
}

func (l *Table) Find(id storage.LeaseID) *Lease { return l.ByID[id] }

func (l *Table) Grant(id storage.LeaseID, ttl time.Duration, now time.Time) *Lease {
	if l.ByID == nil {
		l.ByID = map[storage.LeaseID]*Lease{}
	}
	n := &Lease{ID: id, TTL: ttl, Expiry: now.Add(ttl), queued: now.Add(ttl)}
	l.ByID[id] = n
	heap.Push(&l.queue, n)
	return n
}

// Copy returns a table of the same leases, without their keys.
func (l *Table) Copy() Table {
	var c Table
	for id, n := range l.ByID {
		c.Grant(id, n.TTL, n.Expiry.Add(-n.TTL))
	}
	return c
}

// Rebind moves a key from the lease of old to that of kv; either may be nil.
func (l *Table) Rebind(old, kv *storage.KeyValue) {
	if old != nil && old.Lease != 0 {
		if from := l.ByID[old.Lease]; from != nil {
			delete(from.keys, old.Key)
		}
	}
	if kv == nil || kv.Lease == 0 {
		return
	}
	to := l.ByID[kv.Lease]
	if to.keys == nil {
		to.keys = map[string]struct{}{}
	}
	to.keys[kv.Key] = struct{}{}
}

// Due returns the leases that have expired, and the time until the next one; 0 without leases.
func (l *Table) Due(now time.Time) (ids []storage.LeaseID, next time.Duration) {
	for len(l.queue) > 0 {
		head := l.queue[0]
		switch {
		case head.queued.After(now):
			return ids, head.queued.Sub(now)
		case head.Expiry.After(now):
			head.queued = head.Expiry
			heap.Fix(&l.queue, 0)
		default:
			ids = append(ids, head.ID)
			heap.Pop(&l.queue)
		}
	}
	return ids, 0
}

// Requeue queues a lease again that Due has taken out.
func (l *Table) Requeue(n *Lease) {
	n.queued = n.Expiry
	heap.Push(&l.queue, n)
}

// End drops a lease.
func (l *Table) End(n *Lease) {
	delete(l.ByID, n.ID)
	if n.place >= 0 {
		heap.Remove(&l.queue, n.place)
	}
}

// FreeID returns an unused ID.
func (l *Table) FreeID() storage.LeaseID {
	for {
		if id := storage.LeaseID(rand.Int64()); id != 0 && l.ByID[id] == nil {
			return id
		}
	}
}

// Describe describes a lease.
func (n *Lease) Describe(now time.Time, keys bool) storage.Lease {
	out := storage.Lease{ID: n.ID, TTL: n.TTL, Remaining: max(0, n.Expiry.Sub(now))}
	if keys {
		for key := range n.keys {
			out.Keys = append(out.Keys, key)
		}
		slices.Sort(out.Keys)
	}
	return out
}

// Error wraps err with the lease's ID.
func Error(id storage.LeaseID, err error) error {
	return fmt.Errorf("lease %d: %w", id, err)
}

// expiryQueue is a heap by the time a lease is queued for.
type expiryQueue []*Lease

func (q expiryQueue) Len() int           { return len(q) }
func (q expiryQueue) Less(i, j int) bool { return q[i].queued.Before(q[j].queued) }
func (q expiryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *expiryQueue) Push(x any) {
	n := x.(*Lease)
	n.place = len(*q)
	*q = append(*q, n)
}
func (q *expiryQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	last.place = -1
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
