package alike

import (
	"hash/maphash"
	"unsafe"
)

// Longest is how many bytes a value may have that is looked for.
const Longest = 4 << 10

// Values are the values of fields that came lately. A value has two slots where it may
// stand, and takes the one that was asked for longer ago. A nil Values has none and keeps
// none.
type Values struct {
	slots []entry
	kept  int     // since slots last grew
	habit []habit // by the field's id
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
	rest        uint16 // how many values to pass by unseen
	last        entry
}

const (
	fewest, most = 1 << 8, 1 << 13 // slots
	trial        = 64              // of so many values
	enough       = 8               // so many must have come before
	pause        = 512
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
			h.rest = pause
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
	n = len(h.last.from)
	if n == 0 || n > len(b) || string(b[:n]) != h.last.from {
		return Value{}, 0
	}
	h.hits++
	return h.last.Value, n
}

// Place is where a value that was not found belongs.
type Place struct {
	t     *Values
	slots *[2]entry // nil: nowhere
	field int
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
	slots := t.pair(field, b)
	for i := range slots {
		if e := &slots[i]; e.field == field && e.from == string(b) {
			h := &t.habit[field]
			h.hits++
			h.last = *e
			slots[0], slots[i] = slots[i], slots[0]
			return h.last.Value, Place{}, true
		}
	}
	t.kept++
	return Value{}, Place{t, slots, field}, false
}

// Keep notes what was decoded from the bytes that Find was given.
func (p Place) Keep(b []byte, v Value) {
	if p.slots == nil {
		return
	}
	e := entry{v, p.field, string(b)}
	p.slots[1] = p.slots[0]
	p.slots[0] = e
	p.t.habit[p.field].last = e
}

// pair returns the two slots of a value.
func (t *Values) pair(field int, b []byte) *[2]entry {
	h := maphash.Bytes(seed, b) + uint64(field)*0x9e3779b97f4a7c15
	i := h % uint64(len(t.slots)) &^ 1
	return (*[2]entry)(t.slots[i : i+2])
}

// grow doubles the slots.
func (t *Values) grow() {
	old := t.slots
	t.kept, t.slots = 0, make([]entry, max(fewest, 2*len(old)))
	for _, e := range old {
		if e.field != 0 {
			pair := t.pair(e.field, []byte(e.from))
			pair[1] = pair[0]
			pair[0] = e
		}
	}
}
