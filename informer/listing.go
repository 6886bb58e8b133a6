package informer

import "fairlead.dev/client"

// listing is a complete list while it is read. It keeps the order in which objects come, since they are decoded in it: the
// next one is near in memory, and in a large list most of what a handler does is to wait for memory.
type listing[T client.Object] struct {
	read    []T
	deleted map[key]int // number of objects read before the deletion of one
}

func (l *listing[T]) add(obj T) { l.read = append(l.read, obj) }

// remove removes an object that was deleted while the list was read.
func (l *listing[T]) remove(k key) {
	if l.deleted == nil {
		l.deleted = map[key]int{}
	}
	l.deleted[k] = len(l.read)
}

// objects returns the objects by their names, and in order.
func (l *listing[T]) objects() (byName objects[T], inOrder []T) {
	if len(l.deleted) > 0 {
		left := l.read[:0]
		for i, obj := range l.read {
			if i >= l.deleted[keyOf(obj)] {
				left = append(left, obj)
			}
		}
		clear(l.read[len(left):])
		l.read = left
	}
	sizes := map[string]int{}
	for _, obj := range l.read {
		sizes[obj.GetNamespace()]++
	}
	byName = make(objects[T], len(sizes))
	for ns, n := range sizes {
		byName[ns] = make(map[string]T, n)
	}
	for _, obj := range l.read {
		byName.put(obj)
	}
	if byName.len() != len(l.read) { // some were modified meanwhile, and have been read twice
		return byName, byName.list("")
	}
	return byName, l.read
}
