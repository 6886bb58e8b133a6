package informer

import (
	"slices"

	"fairlead.dev/client"
)

// index finds objects by the values that a function names for them.
type index[T client.Object] struct {
	values func(T) []string
	found  map[string]*bucket[T]
}

// bucket is the objects under one value. Most values of most indexes have one object or
// a few, and a map for each would cost more than the objects' own entries: so it is a
// list first, and a map when it grows.
type bucket[T client.Object] struct {
	few  []T
	many map[key]T // not nil: instead of few
}

const few = 8

func (b *bucket[T]) at(k key) int {
	for i, obj := range b.few {
		if obj.GetName() == k.Name && obj.GetNamespace() == k.Namespace {
			return i
		}
	}
	return -1
}

func (b *bucket[T]) put(k key, obj T) {
	if b.many != nil {
		b.many[k] = obj
		return
	}
	if i := b.at(k); i >= 0 {
		b.few[i] = obj
		return
	}
	if b.few = append(b.few, obj); len(b.few) > few {
		b.many = make(map[key]T, 2*few)
		for _, obj := range b.few {
			b.many[keyOf(obj)] = obj
		}
		b.few = nil
	}
}

// remove removes k and reports whether the bucket is empty.
func (b *bucket[T]) remove(k key) bool {
	if b.many != nil {
		delete(b.many, k)
		return len(b.many) == 0
	}
	if i := b.at(k); i >= 0 {
		b.few = slices.Delete(b.few, i, i+1)
	}
	return len(b.few) == 0
}

func (b *bucket[T]) list() []T {
	if b == nil {
		return []T{}
	}
	all := make([]T, 0, len(b.few)+len(b.many))
	all = append(all, b.few...)
	for _, obj := range b.many {
		all = append(all, obj)
	}
	return all
}

// ByIndex returns the objects for which the index's function returns value, in no order;
// nil if there is no such index.
func (s *Store[T]) ByIndex(name, value string) []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ix := s.mu.indexes[name]
	if ix == nil {
		return nil
	}
	return ix.found[value].list()
}

func (s *Store[T]) addIndex(name string, f func(T) []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.indexes[name] != nil {
		return
	}
	ix := &index[T]{values: f, found: map[string]*bucket[T]{}}
	for _, m := range s.mu.objects {
		for _, obj := range m {
			ix.put(obj)
		}
	}
	s.mu.indexes[name] = ix
}

func (ix *index[T]) put(obj T) { ix.add(obj, ix.values(obj)) }

func (ix *index[T]) remove(obj T) { ix.removeFrom(obj, nil) }

func (ix *index[T]) replace(old, obj T) {
	vs := ix.values(obj)
	ix.removeFrom(old, vs)
	ix.add(obj, vs)
}

func (ix *index[T]) add(obj T, values []string) {
	k := keyOf(obj)
	for _, v := range values {
		b := ix.found[v]
		if b == nil {
			b = &bucket[T]{}
			ix.found[v] = b
		}
		b.put(k, obj)
	}
}

// removeFrom removes obj from the buckets of its values, except those in but.
func (ix *index[T]) removeFrom(obj T, but []string) {
	k := keyOf(obj)
	for _, v := range ix.values(obj) {
		if slices.Contains(but, v) {
			continue
		}
		if b := ix.found[v]; b != nil && b.remove(k) {
			delete(ix.found, v)
		}
	}
}

func keyOf[T client.Object](obj T) key {
	return key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
