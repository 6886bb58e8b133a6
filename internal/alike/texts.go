package alike

import (
	"hash/maphash"
	"unsafe"
)

var seed = maphash.MakeSeed()

// Texts keeps short strings that came lately. The zero value is ready to use.
//
// A text has two places where it may stand. One that comes again moves to the first, so
// that names and addresses, which come once, do not drive out those of every object.
type Texts struct {
	lately [512][2]string
	// Together says that texts which did not come lately belong to objects that were made
	// together and will be kept: they then stand in memory one after the other. One that is
	// kept alone keeps the few hundred bytes that it stands in.
	Together bool
	block    []byte
}

const (
	short = 128
	block = 512
)

// Share returns b as a string, the one that it was before if it came lately.
func (s *Texts) Share(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > short {
		return string(b)
	}
	at := &s.lately[maphash.Bytes(seed, b)%uint64(len(s.lately))]
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
	text := unsafe.String(&s.block[0], n)
	s.block = s.block[n:]
	return text
}
