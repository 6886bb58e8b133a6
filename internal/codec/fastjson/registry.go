package fastjson

import (
	"reflect"
	"sync"
)

// registry caches the plans of types. Only complete plans can be looked up: types refer to one another, and all
// plans that a plan refers to are made together with it.
type registry[T any] struct {
	mu   sync.Mutex // held while plans are made
	made sync.Map   // reflect.Type -> *T
}

// of returns the plan of a type. build makes it, and adds it to making before the plans that it refers to.
// complete, unless nil, is called for each when all are made.
func (r *registry[T]) of(t reflect.Type, build func(t reflect.Type, making map[reflect.Type]*T) *T, complete func(*T)) *T {
	if x, ok := r.made.Load(t); ok {
		return x.(*T)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	making := map[reflect.Type]*T{}
	x := build(t, making)
	for t, x := range making {
		if complete != nil {
			complete(x)
		}
		r.made.LoadOrStore(t, x)
	}
	return x
}
