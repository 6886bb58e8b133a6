package alike

import (
	"hash/maphash"
	"unsafe"
)

// Longest is how many bytes a value may have that is looked for.
const Longest = 4 << 10

// Values are the values of fields that came lately. Of one that comes for the first time
// only a mark is kept, and what was decoded the second time: so what comes once, as much
// of every object does, costs nothing. A value has two slots where it may stand; one that
// comes again moves to the first, and what is new takes the second. A nil Values has none
// and keeps none.
type Values struct {
	slots []slot
	kept  int     // since slots last grew
	habit []habit // by the field's id
}

// slot is a value that came, with no entry if it came once.
type slot struct {
	hash uint64
	*entry
}

// entry is a value; field and from say what it is: nothing else decodes to it.
type entry struct {
	Value
	field int
	from  string
}

// Value is what a field holds: where its pointer, slice or map leads to.
type Value struct {
	At unsafe.Pointer
	N  int // of a slice: its length and capacity
}

// habit is whether a field's values tend to come again, and the last one that did.
type habit struct {
	tries, hits uint8
	rest, pause uint16 // how many values to pass by unseen, and how many next time
	last        *entry // may be nil
	from        string // last's
}

const (
	fewest, most = 1 << 8, 1 << 13 // slots
	trial        = 64              // of so many values
	enough       = 8               // so many must have come before
	shortest     = 128             // so many are passed by if they have not
	longest      = 2048            // at the most; twice as many each time
)

// Try tells whether to look for a field's next value at all. A field is a small number
// above 0 that the decoder has given it.
func (t *Values) Try(field int) bool {
	if t == nil {
		return false
	}
	if field >= len(t.habit) {
		t.habit = append(t.habit, make([]habit, field+1-len(t.habit))...)
	}
	h := &t.habit[field]
	if h.rest > 0 {
		h.rest--
		return false
	}
	if h.tries++; h.tries == trial {
		if h.hits < enough {
			h.pause = min(max(2*h.pause, shortest), longest)
			h.rest = h.pause
		} else {
			h.pause = 0
		}
		h.tries, h.hits = 0, 0
	}
	return true
}

// Next looks whether b begins with the value that the field had last, for values whose
// first byte says where they end, and returns how long it is. It is asked after Try and
// saves to look for the end and for the value.
func (t *Values) Next(field int, b []byte) (v Value, n int) {
	h := &t.habit[field]
	n = len(h.from)
	if n == 0 || n > len(b) || string(b[:n]) != h.from {
		return Value{}, 0
	}
	h.hits++
	return h.last.Value, n
}

// Place is where a value that was not found belongs.
type Place struct {
	slot  *slot // nil: nowhere
	hash  uint64
	field int
	again bool // it came before
}

// Find looks for the value that was decoded from b, after Try. If there is none it says
// where the value is to be kept once it has been decoded; other calls in between do not
// matter.
func (t *Values) Find(field int, b []byte) (Value, Place, bool) {
	if len(b) > Longest {
		return Value{}, Place{}, false
	}
	if t.kept >= 2*len(t.slots) && len(t.slots) < most {
		t.grow()
	}
	hash := maphash.Bytes(seed, b) + uint64(field)*0x9e3779b97f4a7c15
	slots := t.pair(hash)
	for i := range slots {
		if s := &slots[i]; s.hash == hash {
			h := &t.habit[field]
			if s.entry == nil {
				h.hits++
				return Value{}, Place{s, hash, field, true}, false
			}
			if s.field != field || s.from != string(b) {
				continue
			}
			if i > 0 {
				slots[0], slots[1] = slots[1], slots[0]
			}
			e := slots[0].entry
			h.hits++
			if h.last != e {
				h.last, h.from = e, e.from
			}
			return e.Value, Place{}, true
		}
	}
	t.kept++
	return Value{}, Place{&slots[1], hash, field, false}, false
}

// Keep notes what was decoded from the bytes that Find was given.
func (p Place) Keep(b []byte, v Value) {
	switch {
	case p.slot == nil:
	case p.again:
		*p.slot = slot{p.hash, &entry{v, p.field, string(b)}}
	default:
		*p.slot = slot{hash: p.hash}
	}
}

// pair returns the two slots of a value.
func (t *Values) pair(hash uint64) *[2]slot {
	i := hash % uint64(len(t.slots)) &^ 1
	return (*[2]slot)(t.slots[i : i+2])
}

// grow doubles the slots.
func (t *Values) grow() {
	old := t.slots
	t.kept, t.slots = 0, make([]slot, max(fewest, 2*len(old)))
	for _, s := range old {
		if s.hash != 0 {
			pair := t.pair(s.hash)
			pair[0], pair[1] = s, pair[0]
		}
	}
}
