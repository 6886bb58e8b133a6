package rawmem

// IsZero reports whether the size bytes at p are all zero, so that the value there is the zero value. A value of a
// type with padding may be zero although IsZero returns false.
func (p Pointer) IsZero(size uintptr) bool {
	at := uintptr(0)
	for ; at+8 <= size; at += 8 {
		if *At[uint64](p.Field(at)) != 0 {
			return false
		}
	}
	for ; at < size; at++ {
		if *At[byte](p.Field(at)) != 0 {
			return false
		}
	}
	return true
}
