package rawmem

import (
	"unsafe"
	"weak"
)

// Weak is the address of a value that it does not keep alive. The zero Weak is that of a value that is gone.
type Weak struct{ to weak.Pointer[byte] }

// Weak returns the address of the target, which must be the beginning of a heap object of at least 16 bytes: smaller ones may share
// a block of memory with others, and live as long as these.
func (p Pointer) Weak() Weak { return Weak{weak.Make((*byte)(p.at))} }

// Load returns the target, or a nil Pointer once it has been collected.
func (w Weak) Load() Pointer { return Pointer{unsafe.Pointer(w.to.Value())} }
