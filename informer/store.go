package informer

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
)

// Store is the local copy of a resource. Its methods may be called from anywhere and
// never wait for the network, except WaitFor. The slices they return belong to the
// caller; the objects in them are shared and read-only.
type Store[T client.Object] struct {
	synced chan struct{}
	guard  *guard[T]

	mu struct {
		sync.RWMutex
		objects  objects[T]
		indexes  map[string]*index[T]
		rev      string // of the last event, list or bookmark
		revN     uint64 // rev as a number
		waiters  []waiter
		listed   bool // a list has been put in place
		telling  int  // readers that synced waits for
		log      log[T]
		readers  []*reader[T]
		unheard  int  // events since the readers were woken
		syncDone bool // synced is closed
	}
}

type key = types.NamespacedName

// objects is a set of objects by namespace, then name.
type objects[T client.Object] map[string]map[string]T

func (o objects[T]) get(ns, name string) (T, bool) {
	obj, ok := o[ns][name]
	return obj, ok
}

func (o objects[T]) put(obj T) {
	ns := obj.GetNamespace()
	m := o[ns]
	if m == nil {
		m = map[string]T{}
		o[ns] = m
	}
	m[obj.GetName()] = obj
}

func (o objects[T]) remove(ns, name string) {
	delete(o[ns], name)
	if len(o[ns]) == 0 {
		delete(o, ns)
	}
}

func (o objects[T]) len() (n int) {
	for _, m := range o {
		n += len(m)
	}
	return n
}

// list returns the objects of a namespace, or all if it is "".
func (o objects[T]) list(ns string) []T {
	if ns != "" {
		all := make([]T, 0, len(o[ns]))
		for _, obj := range o[ns] {
			all = append(all, obj)
		}
		return all
	}
	all := make([]T, 0, o.len())
	for _, m := range o {
		for _, obj := range m {
			all = append(all, obj)
		}
	}
	return all
}

func newStore[T client.Object](logSize int, g *guard[T]) *Store[T] {
	s := &Store[T]{synced: make(chan struct{}), guard: g}
	s.mu.objects = objects[T]{}
	s.mu.indexes = map[string]*index[T]{}
	s.mu.log.limit = logSize
	return s
}

// Get returns an object; ns is "" for cluster-scoped ones.
func (s *Store[T]) Get(ns, name string) (T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.objects.get(ns, name)
}

// getBytes is Get for a decoder, which has the names as bytes.
func (s *Store[T]) getBytes(ns, name []byte) (T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	obj, ok := s.mu.objects[string(ns)][string(name)]
	return obj, ok
}

// List returns the objects of a namespace, or all if ns is "", in no order.
func (s *Store[T]) List(ns string) []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.objects.list(ns)
}

// Len returns the number of objects.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.objects.len()
}

// Revision returns the resourceVersion that the store is at: that of the last event,
// bookmark or list. It is "" before the first list.
func (s *Store[T]) Revision() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.rev
}

// waiter is a WaitFor that waits.
type waiter struct {
	rev  uint64
	seen chan struct{}
}

// WaitFor waits until the store has seen resourceVersion rv or a later one, so that a
// caller can read its own write. Resource versions are compared as integers. rv must be
// that of a write to this resource: the store sees the version of another resource only
// with the next bookmark, which may take a minute.
func (s *Store[T]) WaitFor(ctx context.Context, rv string) error {
	n, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		return fmt.Errorf("informer: resource version %q is no number", rv)
	}
	s.mu.Lock()
	if s.mu.revN >= n && s.mu.listed {
		s.mu.Unlock()
		return nil
	}
	w := waiter{n, make(chan struct{})}
	s.mu.waiters = append(s.mu.waiters, w)
	s.mu.Unlock()
	select {
	case <-w.seen:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.mu.waiters {
			if s.mu.waiters[i].seen == w.seen {
				s.mu.waiters = append(s.mu.waiters[:i], s.mu.waiters[i+1:]...)
				break
			}
		}
		return ctx.Err()
	}
}

// advance moves the revision and releases the goroutines that wait for it; s.mu is held.
func (s *Store[T]) advance(rev string) {
	if rev == "" || rev == s.mu.rev {
		return
	}
	s.mu.rev = rev
	if n, err := strconv.ParseUint(rev, 10, 64); err == nil {
		s.mu.revN = n
	}
	if len(s.mu.waiters) == 0 {
		return
	}
	left := s.mu.waiters[:0]
	for _, w := range s.mu.waiters {
		if w.rev <= s.mu.revN {
			close(w.seen)
		} else {
			left = append(left, w)
		}
	}
	s.mu.waiters = left
}
