package object

import (
	"errors"
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

// errBuilder is the error of readers that waited for a builder that panicked.
var errBuilder = errors.New("watchcache: the builder of an encoding panicked")

// Encoding returns the object in another encoding. build runs once for any number of concurrent
// readers, and again only if the bytes were dropped, because no reader asked for a while or others
// needed the room: Encodings bounds them all. A failure is returned
// to the readers that waited for it and is not kept. The bytes are shared and must not be changed.
func (o *Object) Encoding(id Encoding, build func(*Object) ([]byte, error)) ([]byte, error) {
	return o.encode(encodingKey{encoding: id}, func() ([]byte, error) { return build(o) })
}

// EncodeEvent is like Object.Encoding, for bytes that contain the type and revision of an event that
// carries the object.
func EncodeEvent(o *Object, id Encoding, typ watch.EventType, build func() ([]byte, error)) ([]byte, error) {
	return o.encode(encodingKey{id, typ}, build)
}

func (o *Object) encode(key encodingKey, build func() ([]byte, error)) ([]byte, error) {
	f := o.findEncoding(key)
	if now := o.kind.Encodings.round.Load(); f.used.Load() != now {
		f.used.Store(now)
	}
	f.once.Do(func() {
		f.err = errBuilder
		if f.bytes, f.err = build(); f.err != nil {
			o.dropEncoding(f)
			return
		}
		o.kind.Encodings.keep(o, f)
	})
	return f.bytes, f.err
}

// findEncoding finds the encoding or adds one that is not built yet.
func (o *Object) findEncoding(key encodingKey) *encoded {
	var fresh *encoded
	for {
		head := o.encodings.Load()
		for f := head; f != nil; f = f.next {
			if f.key == key {
				return f
			}
		}
		if fresh == nil {
			fresh = &encoded{key: key}
		}
		fresh.next = head
		if o.encodings.CompareAndSwap(head, fresh) {
			return fresh
		}
	}
}

// dropEncoding removes one encoding from the list. The other nodes are not changed, as readers may
// stand on them: the list is cut behind the dropped one, and the encodings in front of it are built
// again at worst.
func (o *Object) dropEncoding(drop *encoded) {
	for {
		head := o.encodings.Load()
		f := head
		for f != nil && f != drop {
			f = f.next
		}
		if f == nil || o.encodings.CompareAndSwap(head, drop.next) {
			return
		}
	}
}
