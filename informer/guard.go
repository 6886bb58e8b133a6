package informer

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"

	"fairlead.dev/client"
)

// guard keeps a copy of each stored object, to find code that changes shared objects. A nil
// guard does nothing.
type guard[T client.Object] struct {
	fail func(error)

	mu     sync.Mutex // taken with or without the store's lock, which comes before it
	copies map[any]T  // by the pointer that is stored
}

func newGuard[T client.Object](fail func(error)) *guard[T] {
	if fail == nil {
		return nil
	}
	return &guard[T]{fail: fail, copies: map[any]T{}}
}

// remember notes an object as it is stored.
func (g *guard[T]) remember(obj T) {
	if g == nil {
		return
	}
	c := obj.DeepCopyObject().(T)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.copies[obj] = c
}

// checkLast checks an object for the last time.
func (g *guard[T]) checkLast(obj T) {
	if g == nil {
		return
	}
	g.check(obj, "in the store")
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.copies, obj)
}

// check reports an object that is not as it was noted, once for each change.
func (g *guard[T]) check(obj T, where string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	was, noted := g.copies[obj]
	if !noted || equality.Semantic.DeepEqual(was, obj) {
		g.mu.Unlock()
		return
	}
	g.copies[obj] = obj.DeepCopyObject().(T)
	g.mu.Unlock()
	g.fail(fmt.Errorf("informer: %T %s was changed %s; objects of an informer are read-only:\n%s",
		obj, keyOf(was), where, diff.Diff(was, obj)))
}

// checkAll checks all stored objects.
func (g *guard[T]) checkAll() {
	if g == nil {
		return
	}
	g.mu.Lock()
	all := make([]T, 0, len(g.copies))
	for obj := range g.copies {
		all = append(all, obj.(T))
	}
	g.mu.Unlock()
	for _, obj := range all {
		g.check(obj, "in the store")
	}
}
