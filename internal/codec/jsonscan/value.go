package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Space returns the index of the first byte from i on that is not white space, or len(b).
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Value returns the index after the value that begins at b[i], or -1 if no value begins there or it does not end.
func Value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return String(b, i)
	case '{', '[':
		return nested(b, i)
	}
	start := i
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ':', ']', '}', ' ', '\n', '\t', '\r', '"', '{', '[':
			if i == start {
				return -1
			}
			return i
		}
	}
	return i
}

// String returns the index after the string whose opening quote is b[i], or -1 if it does not end.
func String(b []byte, i int) int {
	for i++; i < len(b); {
		if i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote, backslash := x^(ones*'"'), x^(ones*'\\')
			found := ((quote-ones)&^quote | (backslash-ones)&^backslash) & highs
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2 // past the escaped byte
		default:
			i++
		}
	}
	return -1
}

// class tells the bytes that matter between brackets: the change of depth for a bracket, and 2 for a quote.
var class = [256]int8{'{': 1, '[': 1, '}': -1, ']': -1, '"': 2}

// nested returns the index after the object or array that begins at b[i], or -1 if it does not end.
func nested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch class[b[i]] {
		case 1:
			depth++
		case -1:
			if depth--; depth == 0 {
				return i + 1
			}
		case 2:
			end := String(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		}
	}
	return -1
}
