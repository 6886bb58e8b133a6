package workqueue

import (
	"hash/maphash"
	"sync"
	"time"
)

// table has the queue's whole state of each key: whether it is ready, being worked on,
// delayed, and how often it has failed. A key without state is not in the table.
//
// The entries are in pages, so that a burst grows the table without copying entries. They
// are identified by their index, which stays the same as long as the key is in the table;
// slots is a hash table of such indexes with linear probing. Index 0 is not used. Empty
// pages are freed, so that after a burst a few remaining keys hold only their own pages.
//
// A removed key leaves its slot behind. Emptying it and closing the gap would be a cache
// miss for each key, and another write shared by workers and adders. Instead all slots are
// rebuilt when there are too few empty ones, which costs a few nanoseconds per key. A key
// that returns finds its old slot.
type table[K comparable] struct {
	slots []slot // length is a power of two, at least a quarter of them empty
	taken int    // how many are not empty
	n     int    // how many keys there are
	pages []*page[K]
	spare int       // how many more keys the pages have room for
	roomy *page[K]  // the first of the pages that have room
	holes []int32   // freed pages' indexes
	pool  sync.Pool // pages that were given back and that the collector has not had yet
	times bool      // pages have times
}

type slot struct {
	hash uint32
	i    int32 // of an entry that the key has, or had
}

// page is room for some keys.
type page[K comparable] struct {
	entries    [size]entry[K]
	n          int32                // how many of them keys have
	used       int32                // how many of them a key has ever had
	free       int32                // the first free entry of the page, plus 1; the others are linked by after
	at         int32                // the index of the first
	prev, next *page[K]             // in the list of those that have room
	since      *[size]time.Duration // of the queue's life: when the key became ready, or work on it began; with metrics
}

// entry is one key. It takes a cache line and a little of the next.
type entry[K comparable] struct {
	key      K
	due      time.Duration // of the queue's life: when it becomes ready, if it waits
	before   int32         // its neighbours in the lane, while it is ready and not working
	after    int32
	hash     uint32
	failures uint32 // since the last Forget
	priority int32  // at which it is ready, or was when it was taken
	again    int32  // at which it is ready after Done
	later    int32  // at which it becomes ready when it is due
	state    state
}

// state is a key's state, in the lowest bits, and above them the number of its last Get, by
// which a worker knows that it still holds the key.
type state uint32

const (
	known   state = 1 << iota // there is a key
	ready                     // for a worker, or to be so after Done
	working                   // a worker has it
	waits                     // until it is due
	once                      // one taking

	flags = once - 1
	doing = ready | working | waits
)

const (
	size = 128  // entries in a page
	keep = 1024 // entries and places that an empty queue may hold on to
)

// at returns the entry at i, which stays where it is until it is dropped.
func (t *table[K]) at(i int32) *entry[K] { return &t.pages[i/size].entries[i%size] }

// hasKey reports whether k is the key of the entry at i.
func (t *table[K]) hasKey(i int32, k K) bool {
	p := t.pages[i/size]
	if p == nil {
		return false
	}
	x := &p.entries[i%size]
	return x.state != 0 && x.key == k
}

// hasHash reports whether there is a key of that hash at i.
func (t *table[K]) hasHash(i int32, h uint32) bool {
	p := t.pages[i/size]
	return p != nil && p.entries[i%size].state != 0 && p.entries[i%size].hash == h
}

// find returns the index of k's entry, or 0; h is k's hash.
func (t *table[K]) find(k K, h uint32) int32 {
	if t.n == 0 {
		return 0
	}
	mask := uint32(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		if o := t.slots[at]; o.i == 0 || o.hash == h && t.hasKey(o.i, k) {
			return o.i
		}
	}
}

// put returns the index of k's entry, a new one if k is not in the table; h is k's hash.
func (t *table[K]) put(k K, h uint32) int32 {
	if 4*(t.taken+1) > 3*len(t.slots) {
		t.rehash()
	}
	mask := uint32(len(t.slots) - 1)
	at, left := h&mask, int64(-1)
	for ; t.slots[at].i != 0; at = (at + 1) & mask {
		if o := t.slots[at]; o.hash != h {
			continue
		} else if t.hasKey(o.i, k) {
			return o.i
		} else if !t.hasHash(o.i, h) {
			left = int64(at)
		}
	}
	if left >= 0 {
		at = uint32(left)
	} else {
		t.taken++
	}
	if t.roomy == nil {
		t.addPage()
	}
	i := t.allocate(t.roomy)
	x := t.at(i)
	x.key, x.hash, x.state = k, h, known
	t.slots[at] = slot{h, i}
	t.n++
	return i
}

// rehash makes all slots anew, as many as are needed.
func (t *table[K]) rehash() {
	n := 256
	for n < 2*(t.n+t.spare) {
		n *= 2
	}
	if n == len(t.slots) {
		clear(t.slots)
	} else {
		t.slots = make([]slot, n)
	}
	t.taken = t.n
	mask := uint32(n - 1)
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for i := range p.used {
			x := &p.entries[i]
			if x.state == 0 {
				continue
			}
			at := x.hash & mask
			for t.slots[at].i != 0 {
				at = (at + 1) & mask
			}
			t.slots[at] = slot{x.hash, p.at + i}
		}
	}
}

// remove forgets the key at i.
func (t *table[K]) remove(i int32) {
	t.n--
	t.free(t.pages[i/size], i%size)
}

var seed = maphash.MakeSeed()

func hash[K comparable](k K) uint32 { return uint32(maphash.Comparable(seed, k)) }
