package fastjson

import (
	"reflect"
	"sync"
)

// registry keeps what has been made of types. Only what is complete can be found in
// it: types lead to one another, and all that one leads to is made with it.
type registry[T any] struct {
	mu   sync.Mutex // of those who make something
	made sync.Map   // reflect.Type -> *T
}

// of returns what belongs to a type. build makes that, and enters it into making before
// what it leads to; complete, unless nil, is for each when all are made.
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
