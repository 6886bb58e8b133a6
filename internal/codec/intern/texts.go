package intern

import (
	"hash/maphash"

	"fairlead.dev/internal/rawmem"
)

var seed = maphash.MakeSeed()

// Texts interns short recent strings. The zero value is ready to use.
//
// A text may be in one of two places. A repeated one moves to the first place, so that names and addresses, which
// occur once, do not evict the texts of every object.
type Texts struct {
	recent *[512][2]string // made with the first text
	// Together stores texts that are not interned contiguously, for objects that are made together and kept. A text
	// that outlives the others retains the few hundred bytes around it.
	Together bool
	block    []byte
}

const (
	short = 128
	block = 512
)

// Share returns b as a string: the previous one if it is interned.
func (s *Texts) Share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > short {
		return string(b)
	}
	if s.recent == nil {
		s.recent = new([512][2]string)
	}
	at := &s.recent[maphash.Bytes(seed, b)%uint64(len(s.recent))]
	if at[0] == string(b) {
		return at[0]
	}
	if at[1] == string(b) {
		at[0], at[1] = at[1], at[0]
		return at[0]
	}
	at[1] = s.make(b)
	return at[1]
}

// make returns b as a new string.
func (s *Texts) make(b []byte) string {
	if !s.Together {
		return string(b)
	}
	if len(s.block) < len(b) {
		s.block = make([]byte, block)
	}
	n := copy(s.block, b)
	text := rawmem.String(s.block[:n])
	s.block = s.block[n:]
	return text
}
