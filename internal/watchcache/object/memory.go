package object

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Encodings bounds the memory of all encodings of objects. A random entry makes room. The oldest or
// the least used entry would be the wrong choice for lists, which read all objects again and again:
// if there were one object more than there is room for, each encoding would be dropped just before
// it is read again.
type Encodings struct {
	// Limit is the size in bytes up to which encodings are kept.
	Limit int
	size  atomic.Int64
	// round counts sweeps.
	round atomic.Uint32
	mu    struct {
		sync.Mutex
		swept time.Time
		kept  []keptEncoding
	}
}

// Size returns the size of the kept encodings, with the objects of events that they keep alive.
func (ec *Encodings) Size() int64 { return ec.size.Load() }

// full reports whether another encoding makes others go.
func (ec *Encodings) full() bool { return ec.size.Load() > int64(ec.Limit-ec.Limit/16) }

type keptEncoding struct {
	list    *encodedList
	encoded *encoded
	// size is the memory that dropping the entry may free. Listed objects are in their cache
	// anyway; those of events are soon replaced, and the entry alone keeps them alive, since the
	// list is a part of its object.
	size int
}

func (ec *Encodings) keep(l *encodedList, f *encoded, size int) {
	ec.mu.Lock()
	defer ec.mu.Unlock()
	sum := ec.size.Add(int64(size))
	for sum > int64(ec.Limit) && len(ec.mu.kept) > 0 {
		sum = ec.drop(rand.IntN(len(ec.mu.kept)))
	}
	ec.mu.kept = append(ec.mu.kept, keptEncoding{l, f, size})
}

// drop removes one entry and returns the size of the rest. ec.mu is held.
func (ec *Encodings) drop(i int) int64 {
	last := len(ec.mu.kept) - 1
	out := ec.mu.kept[i]
	ec.mu.kept[i] = ec.mu.kept[last]
	ec.mu.kept[last] = keptEncoding{}
	ec.mu.kept = ec.mu.kept[:last]
	out.list.drop(out.encoded)
	return ec.size.Add(-int64(out.size))
}

// Sweep drops the entries that were not read since the sweep before the last one, unless the last one, of another owner,
// was less than a period ago.
func (ec *Encodings) Sweep(at time.Time, period time.Duration) {
	ec.mu.Lock()
	defer ec.mu.Unlock()
	if since := at.Sub(ec.mu.swept); since >= 0 && since < period {
		return
	}
	ec.mu.swept = at
	now := ec.round.Add(1)
	for i := len(ec.mu.kept) - 1; i >= 0; i-- {
		if now-ec.mu.kept[i].encoded.used.Load() > 1 {
			ec.drop(i)
		}
	}
	if len(ec.mu.kept) < cap(ec.mu.kept)/4 {
		ec.mu.kept = slices.Clone(ec.mu.kept)
	}
}
