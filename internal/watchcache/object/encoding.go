package object

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"
)

// An Encoding names an encoding of an object other than its stored bytes: protobuf, a table's row,
// another API version, a watch frame. Two builders that use the same Encoding must build the same
// bytes.
type Encoding string

// An encodingKey separates an object's own encodings (no type) from those of the events that carry
// it. An object's state enters and leaves a selection at one revision each, so the type is enough
// to tell its events apart.
type encodingKey struct {
	encoding Encoding
	typ      watch.EventType
}

// An encoded is one encoding kept with its object, in a list.
type encoded struct {
	key  encodingKey
	next *encoded
	// used is the round of sweeps in which a reader last asked for it.
	used  atomic.Uint32
	once  sync.Once
	bytes []byte
	err   error
}

// An encodedList holds the encodings of one object, the newest first.
type encodedList struct{ head atomic.Pointer[encoded] }

// find finds the encoding or adds one that is not built yet.
func (l *encodedList) find(key encodingKey) *encoded {
	var fresh *encoded
	for {
		head := l.head.Load()
		for f := head; f != nil; f = f.next {
			if f.key == key {
				return f
			}
		}
		if fresh == nil {
			fresh = &encoded{key: key}
		}
		fresh.next = head
		if l.head.CompareAndSwap(head, fresh) {
			return fresh
		}
	}
}

// has reports whether the list has the encoding.
func (l *encodedList) has(key encodingKey) bool {
	for f := l.head.Load(); f != nil; f = f.next {
		if f.key == key {
			return true
		}
	}
	return false
}

// drop removes one encoding from the list. The other nodes are not changed, as readers may stand on
// them: the list is cut behind the dropped one, and the encodings in front of it are built again at
// worst.
func (l *encodedList) drop(f *encoded) {
	for {
		head := l.head.Load()
		at := head
		for at != nil && at != f {
			at = at.next
		}
		if at == nil || l.head.CompareAndSwap(head, f.next) {
			return
		}
	}
}

// An encodedSize is the length of one encoding of an object. It stays when the bytes are dropped.
type encodedSize struct {
	encoding Encoding
	size     int
	next     *encodedSize
}
