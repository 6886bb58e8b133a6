package intern

import (
	"hash/maphash"
	"sync"

	"fairlead.dev/internal/rawmem"
)

// Objects finds whole objects by the bytes that they were decoded from, as long as a reader uses them. All objects of one
// Objects have the same type, were decoded in the same way, and are never modified. So several
// readers that follow the same resource have each object once, whatever order they read in.
//
// It does not keep objects alive, and not their bytes either: it knows these by a hash of 128 bits with a random seed.
// An object that is in use costs about 80 bytes here.
//
// The zero Objects is empty. It is safe for concurrent use.
type Objects struct {
	shards [64]objectShard
}

type objectShard struct {
	mu    sync.Mutex
	known map[Digest]rawmem.Weak
	// sweepAt is the number of entries at which those of collected objects are removed.
	sweepAt int
}

// Digest identifies the bytes of an object within this process.
type Digest struct{ high, low uint64 }

var highSeed, lowSeed = maphash.MakeSeed(), maphash.MakeSeed()

// DigestOf returns the Digest of bytes.
func DigestOf(b []byte) Digest { return Digest{maphash.Bytes(highSeed, b), maphash.Bytes(lowSeed, b)} }

// Find returns the object that was decoded from bytes, or a nil Pointer.
func (o *Objects) Find(d Digest) rawmem.Pointer {
	s := &o.shards[d.low%uint64(len(o.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[d].Load()
}

// Keep makes an object the one that was decoded from bytes, and returns it; or the one that another reader has kept
// meanwhile.
func (o *Objects) Keep(d Digest, object rawmem.Pointer) rawmem.Pointer {
	s := &o.shards[d.low%uint64(len(o.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.known[d].Load(); !first.IsNil() {
		return first
	}
	if len(s.known) >= s.sweepAt {
		s.sweep()
	}
	s.known[d] = object.Weak()
	return object
}

// sweep removes entries of collected objects into a map of the right size, since a map does not shrink. s.mu is held.
func (s *objectShard) sweep() {
	live := make(map[Digest]rawmem.Weak, len(s.known)/2+1)
	for d, w := range s.known {
		if !w.Load().IsNil() {
			live[d] = w
		}
	}
	s.known, s.sweepAt = live, max(16, 2*len(live))
}
