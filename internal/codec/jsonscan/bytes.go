package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Special, Escaped and String examine eight bytes at a time. In each word found, the high bit of a byte is set where that
// byte is one of those looked for. (A borrow may set bits above the first one found, never below.)
const ones, highs = 0x0101010101010101, 0x8080808080808080

// Special returns the first index from i on of a byte that a string may not hold as it is, or that needs a closer
// look: a quote, a backslash, a control character, or a byte that is not ASCII. Without such a byte it returns len(b).
func Special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := x^(ones*'"'), x^(ones*'\\')
		found := ((quote-ones)&^quote | (backslash-ones)&^backslash | (x - ones*' ') | x) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// Escaped returns the first index from i on of a byte that encoding/json may escape: those of Special, and those
// that HTML gives a meaning (&, <, >). Without such a byte it returns len(b).
func Escaped(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := x^(ones*'"'), x^(ones*'\\')
		and, angle := x^(ones*'&'), x&^(ones*2)^(ones*'<') // < and > differ in one bit
		found := ((quote-ones)&^quote | (backslash-ones)&^backslash | (and-ones)&^and | (angle-ones)&^angle | (x - ones*' ') | x) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"', c == '\\', c == '<', c == '>', c == '&', c < ' ', c >= utf8.RuneSelf:
			return i
		}
	}
	return len(b)
}
