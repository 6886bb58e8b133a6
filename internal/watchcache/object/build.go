package object

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"
)

// errBuilder is the error of readers that waited for a builder that panicked.
var errBuilder = errors.New("watchcache: the builder of an encoding panicked")

// Encoding returns the object in another encoding. build runs once for any number of concurrent
// readers, and again only if the bytes were dropped, because no reader asked for a while or others
// needed the room: Encodings bounds them all. A failure is returned to the readers that waited for
// it and is not kept. The bytes are shared and must not be changed.
func (o *Object) Encoding(id Encoding, build func(*Object) ([]byte, error)) ([]byte, error) {
	return o.encode(encodingKey{encoding: id}, func() ([]byte, error) { return build(o) })
}

// EncodeEvent is like Object.Encoding, for bytes that contain the type and revision of an event that
// carries the object.
func EncodeEvent(o *Object, id Encoding, typ watch.EventType, build func() ([]byte, error)) ([]byte, error) {
	return o.encode(encodingKey{id, typ}, build)
}

func (o *Object) encode(key encodingKey, build func() ([]byte, error)) ([]byte, error) {
	f := o.encodings.find(key)
	if now := o.kind.Encodings.round.Load(); f.used.Load() != now {
		f.used.Store(now)
	}
	f.once.Do(func() {
		f.err = errBuilder
		if f.bytes, f.err = build(); f.err != nil {
			o.encodings.drop(f)
			return
		}
		size := len(f.bytes)
		if key.typ != "" {
			size += len(o.kv().Value)
		}
		o.kind.Encodings.keep(&o.encodings, f, size)
	})
	return f.bytes, f.err
}

// Keeps reports whether the encoding is kept with the object, or has room to be.
func (o *Object) Keeps(id Encoding) bool {
	return !o.kind.Encodings.full() || o.encodings.has(encodingKey{encoding: id})
}

// EncodedSize returns the length of the object's encoding in bytes. It measures the encoding once; a
// list whose length precedes its items can then be written one item at a time.
func (o *Object) EncodedSize(id Encoding, measure func(*Object) (int, error)) (int, error) {
	for {
		head := o.sizes.Load()
		for s := head; s != nil; s = s.next {
			if s.encoding == id {
				return s.size, nil
			}
		}
		n, err := measure(o)
		if err != nil {
			return 0, err
		}
		if o.sizes.CompareAndSwap(head, &encodedSize{id, n, head}) {
			return n, nil
		}
	}
}
