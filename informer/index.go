package informer

import (
	"slices"

	"fairlead.dev/client"
)

// index finds objects by the values that a function names for them.
type index[T client.Object] struct {
	values func(T) []string
	found  map[string]map[key]T
}

// ByIndex returns the objects for which the index's function names value, in no order;
// none if there is no such index.
func (s *Store[T]) ByIndex(name, value string) []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ix := s.mu.indexes[name]
	if ix == nil {
		return nil
	}
	all := make([]T, 0, len(ix.found[value]))
	for _, obj := range ix.found[value] {
		all = append(all, obj)
	}
	return all
}

func (s *Store[T]) addIndex(name string, f func(T) []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.indexes[name] != nil {
		return
	}
	ix := &index[T]{values: f, found: map[string]map[key]T{}}
	for _, m := range s.mu.objects {
		for _, obj := range m {
			ix.put(obj)
		}
	}
	s.mu.indexes[name] = ix
}

func (ix *index[T]) put(obj T) {
	k := keyOf(obj)
	for _, v := range ix.values(obj) {
		m := ix.found[v]
		if m == nil {
			m = map[key]T{}
			ix.found[v] = m
		}
		m[k] = obj
	}
}

func (ix *index[T]) remove(obj T) { ix.drop(obj, nil) }

// drop takes obj out from under its values, but for those in but.
func (ix *index[T]) drop(obj T, but []string) {
	k := keyOf(obj)
	for _, v := range ix.values(obj) {
		if slices.Contains(but, v) {
			continue
		}
		if m := ix.found[v]; m != nil {
			delete(m, k)
			if len(m) == 0 {
				delete(ix.found, v)
			}
		}
	}
}

func (ix *index[T]) replace(old, obj T) {
	ix.drop(old, ix.values(obj))
	ix.put(obj)
}

func keyOf[T client.Object](obj T) key {
	return key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
