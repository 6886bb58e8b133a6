package rawmem

import "unsafe"

// String returns b as a string that shares its memory: b must not be modified as long as the string is in use.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes returns the bytes of s, which must not be modified. They have no room to grow, so that append copies them.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
