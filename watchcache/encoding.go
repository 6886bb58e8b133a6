package watchcache

import (
	"errors"
	"math/rand/v2"
	"slices"
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
// needed the room: the hub keeps HubOptions.EncodingBytes of all encodings. A failure is returned
// to the readers that waited for it and is not kept. The bytes are shared and must not be changed.
func (o *Object) Encoding(id Encoding, build func(*Object) ([]byte, error)) ([]byte, error) {
	return o.encode(encodingKey{encoding: id}, func() ([]byte, error) { return build(o) })
}

func (o *Object) encode(key encodingKey, build func() ([]byte, error)) ([]byte, error) {
	f := o.findEncoding(key)
	if now := o.cache.hub.encodings.round.Load(); f.used.Load() != now {
		f.used.Store(now)
	}
	f.once.Do(func() {
		f.err = errBuilder
		if f.bytes, f.err = build(); f.err != nil {
			o.dropEncoding(f)
			return
		}
		o.cache.hub.encodings.keep(o, f)
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

// encodings bounds the memory of all encodings of a hub. A random entry makes room. The oldest or
// the least used entry would be the wrong choice for lists, which read all objects again and again:
// if there were one object more than there is room for, each encoding would be dropped just before
// it is read again.
type encodings struct {
	limit int
	size  atomic.Int64
	// round counts sweeps.
	round atomic.Uint32
	mu    struct {
		sync.Mutex
		kept []keptEncoding
	}
}

type keptEncoding struct {
	object  *Object
	encoded *encoded
	// size is the memory that dropping the entry may free. Listed objects are in their cache
	// anyway; those of events are soon replaced, and the entry alone keeps them alive.
	size int
}

func (ec *encodings) keep(o *Object, f *encoded) {
	k := keptEncoding{o, f, len(f.bytes)}
	if f.key.typ != "" {
		k.size += len(o.kv().Value)
	}
	ec.mu.Lock()
	defer ec.mu.Unlock()
	size := ec.size.Add(int64(k.size))
	for size > int64(ec.limit) && len(ec.mu.kept) > 0 {
		size = ec.drop(rand.IntN(len(ec.mu.kept)))
	}
	ec.mu.kept = append(ec.mu.kept, k)
}

// drop removes one entry and returns the size of the rest. ec.mu is held.
func (ec *encodings) drop(i int) int64 {
	last := len(ec.mu.kept) - 1
	out := ec.mu.kept[i]
	ec.mu.kept[i] = ec.mu.kept[last]
	ec.mu.kept[last] = keptEncoding{}
	ec.mu.kept = ec.mu.kept[:last]
	out.object.dropEncoding(out.encoded)
	return ec.size.Add(-int64(out.size))
}

// sweep drops the entries that were not read since the sweep before the last one.
func (ec *encodings) sweep() {
	now := ec.round.Add(1)
	ec.mu.Lock()
	defer ec.mu.Unlock()
	for i := len(ec.mu.kept) - 1; i >= 0; i-- {
		if now-ec.mu.kept[i].encoded.used.Load() > 1 {
			ec.drop(i)
		}
	}
	if len(ec.mu.kept) < cap(ec.mu.kept)/4 {
		ec.mu.kept = slices.Clone(ec.mu.kept)
	}
}
