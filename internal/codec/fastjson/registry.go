package fastjson

import (
	"reflect"
	"sync"
)

// registry caches the codecs of types. Only complete codecs can be looked up: types refer to one another, and all
// codecs that a codec refers to are made together with it.
type registry[T any] struct {
	mu   sync.Mutex // held while codecs are made
	made sync.Map   // reflect.Type -> *T
}

// get returns the codec of a type. build makes it, and adds it to making before the codecs that it refers to.
// complete, unless nil, is called for each when all are made.
func (r *registry[T]) get(t reflect.Type, build func(t reflect.Type, making map[reflect.Type]*T) *T, complete func(*T)) *T {
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
