package workqueue

import (
	"hash/maphash"
	"time"
)

// keys holds what the queue knows of each key that is ready or being worked on. The
// items stand in pages, so that a burst grows the queue without copying what is there,
// and are named by their index; slots is a hash table of such indexes, probed in line.
// Index 0 is nobody.
//
// A Go map would do the same and takes twice the time: it is asked once whether the key
// is there and once to put it there, and once to find it and once to drop it, and hashes
// the key each time. Here a key is hashed once, whichever tables of a queue it is looked
// for in, and never to be dropped: its item knows the hash.
type keys[K comparable] struct {
	slots []slot // length is a power of two, at least a quarter of them empty
	pages []*[page]item[K]
	used  int32 // indexes given out so far
	free  int32 // the first of those given back, linked by after
	n     int
}

type slot struct {
	hash uint32
	i    int32
}

type item[K comparable] struct {
	key      K
	since    time.Duration // of the queue's life: when it became ready, or work began, with metrics; when it will be ready
	priority int           // at which it is ready, or was when it was taken
	next     int           // the priority at which it is ready again after Done
	before   int32         // its neighbours in the lane, while it is ready and not working
	after    int32
	hash     uint32
	ready    bool
	working  bool
}

const (
	page = 128
	keep = 1024 // items that an empty queue may hold on to
)

// item returns the item at i, which stays where it is until it is dropped.
func (s *keys[K]) item(i int32) *item[K] { return &s.pages[i/page][i%page] }

// find returns the index of k's item, or 0; h is k's hash.
func (s *keys[K]) find(k K, h uint32) int32 {
	if s.n == 0 {
		return 0
	}
	return s.slots[s.slot(k, h)].i
}

// put returns the index of k's item, a new one if there was none; h is k's hash.
func (s *keys[K]) put(k K, h uint32) int32 {
	if len(s.slots) == 0 {
		*s = keys[K]{slots: make([]slot, 16), used: 1}
	}
	at := s.slot(k, h)
	if i := s.slots[at].i; i != 0 {
		return i
	}
	if 4*(s.n+1) > 3*len(s.slots) {
		s.grow()
		at = s.slot(k, h)
	}
	i := s.free
	if i == 0 {
		i = s.used
		s.used++
		if int(i/page) == len(s.pages) {
			s.pages = append(s.pages, new([page]item[K]))
		}
	} else {
		s.free = s.item(i).after
	}
	x := s.item(i)
	x.key, x.hash = k, h
	s.slots[at] = slot{h, i}
	s.n++
	return i
}

// drop forgets the item at i; with the last one goes the memory of a large burst.
func (s *keys[K]) drop(i int32) {
	s.n--
	if s.n == 0 && s.used > keep {
		*s = keys[K]{}
		return
	}
	x := s.item(i)
	mask := uint32(len(s.slots) - 1)
	at := x.hash & mask
	for s.slots[at].i != i {
		at = (at + 1) & mask
	}
	// Those that stand behind only because others were in their way move up, so that
	// a probe may end at the first empty slot.
	for hole := at; ; {
		at = (at + 1) & mask
		o := s.slots[at]
		if o.i == 0 {
			s.slots[hole] = slot{}
			break
		}
		if home := o.hash & mask; (at-home)&mask >= (at-hole)&mask {
			s.slots[hole] = o
			hole = at
		}
	}
	*x = item[K]{after: s.free}
	s.free = i
}

// slot returns where k's index stands in slots, or the empty slot where it belongs.
func (s *keys[K]) slot(k K, h uint32) uint32 {
	mask := uint32(len(s.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		o := s.slots[at]
		if o.i == 0 || o.hash == h && s.item(o.i).key == k {
			return at
		}
	}
}

func (s *keys[K]) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	mask := uint32(len(s.slots) - 1)
	for _, o := range old {
		if o.i == 0 {
			continue
		}
		at := o.hash & mask
		for s.slots[at].i != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = o
	}
}

var seed = maphash.MakeSeed()

func hash[K comparable](k K) uint32 { return uint32(maphash.Comparable(seed, k)) }
