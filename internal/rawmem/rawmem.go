// Package rawmem reads and writes the memory of values whose types are known only at run time, and views strings as
// bytes and bytes as strings. It is the only package that imports unsafe; arch_test.go enforces that.
//
// # Contract
//
// A [Pointer] keeps its target alive, as any Go pointer does. Everything else is the caller's duty:
//
//   - a Pointer has a type, which the caller knows: that of the value that it was made from, or of the field or item
//     that it was moved to. [At], [Pointer.Value] and [Pointer.Slice] are called with that type, or with one of the
//     same memory layout;
//   - [Pointer.Field] is called with the offset of a field of the target, and [Slice.Item] with an index below the
//     length;
//   - a nil Pointer may be compared, and At returns a nil pointer for it; it must not be moved or read.
//
// Nothing is checked, except in builds with the race detector or -gcflags=all=-d=checkptr, where the compiler's
// checks of unsafe conversions apply.
//
// All functions but [New], [Pointer.Value] and [Pointer.Interface], which reflect anyway, are inlined. Only New
// allocates.
package rawmem

import (
	"reflect"
	"unsafe"
)

// Pointer is the address of a value. The zero Pointer is nil. Pointers are comparable.
type Pointer struct{ at unsafe.Pointer }

// Of returns the target of a reflected pointer, the first item of a slice, or a map as the word that it is in memory.
func Of(v reflect.Value) Pointer { return Pointer{v.UnsafePointer()} }

// To returns the address that p holds.
func To[T any](p *T) Pointer { return Pointer{unsafe.Pointer(p)} }

// New allocates a zero value of type t.
func New(t reflect.Type) Pointer { return Pointer{reflect.New(t).UnsafePointer()} }

// At returns the pointer as one to a T.
func At[T any](p Pointer) *T { return (*T)(p.at) }

// IsNil reports whether the pointer is nil.
func (p Pointer) IsNil() bool { return p.at == nil }

// Field returns the address of the field at an offset in the struct at p.
func (p Pointer) Field(offset uintptr) Pointer { return Pointer{unsafe.Add(p.at, offset)} }

// Load returns the pointer or the map at p. For a slice it returns the address of the first item, which is the first
// word of a slice in memory.
func (p Pointer) Load() Pointer { return *(*Pointer)(p.at) }

// Slice returns the slice at p.
func (p Pointer) Slice() *Slice { return (*Slice)(p.at) }

// Value returns the value of type t at p, which can be set.
func (p Pointer) Value(t reflect.Type) reflect.Value { return reflect.NewAt(t, p.at).Elem() }

// Interface returns a pointer of type *t in an interface.
func (p Pointer) Interface(t reflect.Type) any { return reflect.NewAt(t, p.at).Interface() }

// Slice is a slice in memory. A nil slice has nil Data, an empty one has not.
type Slice struct {
	Data     Pointer
	Len, Cap int
}

// SliceAt returns the slice of n items that begins at data, without room for more.
func SliceAt(data Pointer, n int) Slice { return Slice{data, n, n} }

// Item returns the address of an item; size is that of the item type.
func (s *Slice) Item(i int, size uintptr) Pointer {
	return Pointer{unsafe.Add(s.Data.at, uintptr(i)*size)}
}
