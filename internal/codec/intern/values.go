package intern

import (
	"hash/maphash"

	"fairlead.dev/internal/rawmem"
)

// MaxLen is the maximum length in bytes of an interned value.
const MaxLen = 4 << 10

// Values interns recent values of fields. At the first occurrence only a mark is kept, at the second the decoded
// value, so values that occur once, which are much of every object, have no cost. A value may be in one of two
// slots; a repeated one moves to the first, and a new one takes the second. A nil Values stays empty.
type Values struct {
	slots []slot
	kept  int // since slots last grew
	// habits are by the field's id, in pages: the fields of one type have adjoining ids among those of all types.
	habits []*[habitPage]habit
}

// slot is a value that occurred; it has no entry after the first occurrence.
type slot struct {
	hash uint64
	*entry
}

// entry is a value with its key: the field and the encoded bytes.
type entry struct {
	Value
	field int
	from  string
}

// Value is the target of a field's pointer, slice or map.
type Value struct {
	At rawmem.Pointer
	N  int // of a slice: its length and capacity
}

// habit records whether a field's values tend to repeat, and the last one that did.
type habit struct {
	tries, hits uint8
	rest, pause uint16 // how many values to skip now, and how many next time
	last        *entry // may be nil
	from        string // last's
}

const (
	habitPage          = 32              // a page's habits
	minSlots, maxSlots = 1 << 8, 1 << 13 // slots
	trial              = 64              // the number of values in a trial
	enough             = 8               // the repetitions a trial must have
	minPause           = 128             // how many values are skipped after the first failed trial
	maxPause           = 2048            // at most; the number doubles each time
)

// Try reports whether to look up a field's next value at all. A field is a small positive number assigned by the
// decoder.
func (t *Values) Try(field int) bool {
	if t == nil {
		return false
	}
	if n := field/habitPage + 1 - len(t.habits); n > 0 {
		t.habits = append(t.habits, make([]*[habitPage]habit, n)...)
	}
	if page := &t.habits[field/habitPage]; *page == nil {
		*page = &[habitPage]habit{}
	}
	h := t.habit(field)
	if h.rest > 0 {
		h.rest--
		return false
	}
	if h.tries++; h.tries == trial {
		if h.hits < enough {
			h.pause = min(max(2*h.pause, minPause), maxPause)
			h.rest = h.pause
		} else {
			h.pause = 0
		}
		h.tries, h.hits = 0, 0
	}
	return true
}

// habit returns the habit of a field that was tried.
func (t *Values) habit(field int) *habit { return &t.habits[field/habitPage][field%habitPage] }

// Next checks whether b begins with the value that the field had last, and returns its length, for values whose
// first byte determines where they end. It is called after Try, and saves finding the end and looking up the value.
func (t *Values) Next(field int, b []byte) (v Value, n int) {
	h := t.habit(field)
	n = len(h.from)
	if n == 0 || n > len(b) || string(b[:n]) != h.from {
		return Value{}, 0
	}
	h.hits++
	return h.last.Value, n
}

// Place is where a value that was not found belongs.
type Place struct {
	slot  *slot // nil: not kept
	hash  uint64
	field int
	again bool // it occurred before
}

// Find looks up the value decoded from b. It is called after Try. If the value is not found, the Place keeps it
// after decoding; other calls may come in between.
func (t *Values) Find(field int, b []byte) (Value, Place, bool) {
	if len(b) > MaxLen {
		return Value{}, Place{}, false
	}
	if t.kept >= 2*len(t.slots) && len(t.slots) < maxSlots {
		t.grow()
	}
	hash := maphash.Bytes(seed, b) + uint64(field)*0x9e3779b97f4a7c15
	slots := t.pair(hash)
	for i := range slots {
		if s := &slots[i]; s.hash == hash {
			h := t.habit(field)
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

// Keep stores the value decoded from the bytes that were passed to Find.
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
	t.kept, t.slots = 0, make([]slot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.hash != 0 {
			pair := t.pair(s.hash)
			pair[0], pair[1] = s, pair[0]
		}
	}
}
