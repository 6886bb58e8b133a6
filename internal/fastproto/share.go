package fastproto

import (
	"hash/maphash"
	"unsafe"
)

var seed = maphash.MakeSeed()

// texts keeps short strings that came lately.
type texts struct {
	lately [1024]string
}

const short = 128

func (s *texts) share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > short {
		return string(b)
	}
	at := &s.lately[maphash.Bytes(seed, b)%uint64(len(s.lately))]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// Sharer decodes objects that nobody will change: what is encoded alike in several of
// them is one thing in memory.
type Sharer struct{ d decoder }

// NewSharer returns a Sharer that has seen nothing.
func NewSharer() *Sharer { return &Sharer{decoder{values: &values{}}} }

// Unmarshal is like the function Unmarshal.
func (s *Sharer) Unmarshal(b []byte, into unmarshaler) bool {
	p, v, ok := target(into)
	return ok && s.d.message(p, v, b, 0)
}

// values are the pointers, slices and maps that came lately, by the bytes that they were
// decoded from. A value has two slots where it may stand, and takes the one that was
// taken longer ago.
type values struct {
	slots []entry
	kept  int     // since slots last grew
	habit []habit // by the field's id
}

// entry is a value; from says what it is: nothing else decodes to it.
type entry struct {
	field *field
	from  string
	at    unsafe.Pointer
	n     int // of a slice
}

// habit is whether a field's values tend to come again.
type habit struct {
	tries, hits uint8
	rest        uint16 // how many values to pass by unseen
}

const (
	fewest, most = 1 << 8, 1 << 13 // slots
	longest      = 4 << 10         // bytes of a value that is looked up
	trial        = 64              // of so many values
	enough       = 8               // so many must have come before
	pause        = 512
)

// place is where a value was found, or belongs.
type place struct {
	entry
	slots *[2]entry // nil: nowhere
}

// find looks for a field's value that was decoded from the same bytes.
func (t *values) find(f *field, b []byte) (place, bool) {
	if t == nil || len(b) > longest {
		return place{}, false
	}
	for f.id >= len(t.habit) {
		t.habit = append(t.habit, make([]habit, f.id+1-len(t.habit))...)
	}
	h := &t.habit[f.id]
	if h.rest > 0 {
		h.rest--
		return place{}, false
	}
	if h.tries++; h.tries == trial {
		if h.hits < enough {
			h.rest = pause
		}
		h.tries, h.hits = 0, 0
	}
	if t.kept >= 2*len(t.slots) && len(t.slots) < most {
		t.grow()
	}
	slots := t.pair(f, b)
	for i := range slots {
		if e := &slots[i]; e.field == f && e.from == string(b) {
			h.hits++
			return place{entry: *e}, true
		}
	}
	t.kept++
	return place{slots: slots}, false
}

// keep notes what a value that find did not find is.
func (p place) keep(f *field, b []byte, at unsafe.Pointer, n int) {
	if p.slots == nil {
		return
	}
	p.slots[1] = p.slots[0]
	p.slots[0] = entry{f, string(b), at, n}
}

// pair returns the two slots of a value.
func (t *values) pair(f *field, b []byte) *[2]entry {
	h := maphash.Bytes(seed, b) + uint64(f.id)*0x9e3779b97f4a7c15
	i := h % uint64(len(t.slots)) &^ 1
	return (*[2]entry)(t.slots[i : i+2])
}

// grow doubles the slots.
func (t *values) grow() {
	old := t.slots
	t.kept, t.slots = 0, make([]entry, max(fewest, 2*len(old)))
	for _, e := range old {
		if e.field != nil {
			pair := t.pair(e.field, []byte(e.from))
			pair[1] = pair[0]
			pair[0] = e
		}
	}
}
