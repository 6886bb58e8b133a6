package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Expectations records, by key, which objects a controller has just created and deleted and not yet seen in its
// informer, so that it does not create or delete them a second time. A reconcile that finds Satisfied false leaves
// creating and deleting to a later call. It is safe for concurrent use; the zero value is ready.
//
//	before creating n pods:    e.ExpectCreates(key, n)
//	when one is seen added:    e.Created(key)
//	when creating one failed:  e.Created(key) too, because it will not be seen
//	before deleting:           e.ExpectDeletes(key, uids...)
//	when one is seen deleted:  e.Deleted(key, uid), also when it is seen terminating
type Expectations struct {
	mu struct {
		sync.Mutex
		byKey map[Key]*expected
	}
}

type expected struct {
	creates int
	deletes map[types.UID]struct{}
	since   time.Time
}

// ExpectationTimeout is the time after which an unmet expectation is dropped.
const ExpectationTimeout = 5 * time.Minute

// at returns the expectations of k, or new ones. e.mu is held.
func (e *Expectations) at(k Key) *expected {
	if e.mu.byKey == nil {
		e.mu.byKey = map[Key]*expected{}
	}
	x := e.mu.byKey[k]
	if x == nil {
		x = &expected{deletes: map[types.UID]struct{}{}}
		e.mu.byKey[k] = x
	}
	x.since = time.Now()
	return x
}

// ExpectCreates adds n objects about to be created.
func (e *Expectations) ExpectCreates(k Key, n int) {
	if n <= 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at(k).creates += n
}

// ExpectDeletes adds objects about to be deleted.
func (e *Expectations) ExpectDeletes(k Key, uids ...types.UID) {
	if len(uids) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.at(k)
	for _, u := range uids {
		x.deletes[u] = struct{}{}
	}
}

// Created records that a created object has been seen, or that its creation failed.
func (e *Expectations) Created(k Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.mu.byKey[k]; x != nil {
		x.creates = max(0, x.creates-1)
		e.settle(k, x)
	}
}

// Deleted records that an object has been seen deleted, or that its deletion failed.
func (e *Expectations) Deleted(k Key, uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.mu.byKey[k]; x != nil {
		delete(x.deletes, uid)
		e.settle(k, x)
	}
}

// settle drops expectations that have been met. e.mu is held.
func (e *Expectations) settle(k Key, x *expected) {
	if x.creates == 0 && len(x.deletes) == 0 {
		delete(e.mu.byKey, k)
	}
}

// Satisfied reports whether everything expected for k has been seen, or has been expected for longer than
// ExpectationTimeout.
func (e *Expectations) Satisfied(k Key) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.mu.byKey[k]
	if x == nil {
		return true
	}
	if time.Since(x.since) > ExpectationTimeout {
		delete(e.mu.byKey, k)
		return true
	}
	return false
}

// Forget drops the expectations of k. It is called when the object is gone.
func (e *Expectations) Forget(k Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.mu.byKey, k)
}
