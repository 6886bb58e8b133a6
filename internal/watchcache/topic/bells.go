package topic

import (
	"math"
	"sync"

	"fairlead.dev/internal/watchcache/bell"
)

// bells are those of the readers of one topic. They are rung without the lock of the set's owner;
// changes of the list need both.
type bells struct {
	sync.Mutex
	list []*seat
	// first is room for the only reader of most topics.
	first [1]*seat
}

// A seat is the bell of a reader and its place in the list; slot is -1 once the reader has left.
type seat struct {
	bell bell.Bell
	slot int
}

// add takes a seat at the end of the list.
func (b *bells) add(s *seat) {
	s.slot = len(b.list)
	b.Lock()
	defer b.Unlock()
	b.list = append(b.list, s)
}

// remove gives the seat's place to the last one.
func (b *bells) remove(s *seat) {
	b.Lock()
	defer b.Unlock()
	last := len(b.list) - 1
	b.list[s.slot] = b.list[last]
	b.list[s.slot].slot = s.slot
	b.list[last] = nil
	b.list = b.list[:last]
	s.slot = -1
}

// ringChunk is how many bells are rung before others get the lock.
const ringChunk = 256

// ring rings all bells, from the last to the first. A reader that leaves between two chunks is
// replaced by the last one, which either has been rung or moves to a place that is still to be rung.
// A reader that enters needs no bell for the events before it.
func (b *bells) ring() {
	for end := math.MaxInt; end > 0; {
		b.Lock()
		end = min(end, len(b.list))
		for i := 0; i < ringChunk && end > 0; i++ {
			end--
			b.list[end].bell.Ring()
		}
		b.Unlock()
	}
}
