package fastjson

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// quoted reads a string without copying it. plain is false if it has escapes or is invalid; it is then only
// skipped, if it ends at all.
func (d *decoder) quoted() (s []byte, plain bool) {
	b, i := d.b, d.i
	if i >= len(b) || b[i] != '"' {
		return nil, false
	}
	i++
	from, ascii := i, true
	plain = true
	for {
		i = ordinary(b, i)
		if i >= len(b) {
			d.i = i
			return nil, false
		}
		switch c := b[i]; {
		case c == '"':
			d.i = i + 1
			s = b[from:i]
			return s, plain && (ascii || utf8.Valid(s))
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			plain = false
		default:
			ascii = false
		}
		i++
	}
}

// ordinary returns the first position from i on of a quote, a backslash, a control character or a byte that is not
// ASCII. It examines eight bytes at a time: in each word below, the high bit of a byte is set where that byte is
// one of those. (A borrow may set bits above the first one found, never below.)
func ordinary(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (x - ones*' ') | x) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// harmless returns the first position from i on of a byte that encoding/json may escape: those that ordinary finds,
// and those that HTML requires to be escaped.
func harmless(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		and, angle := x^(ones*'&'), x&^(ones*2)^(ones*'<') // < and > differ in one bit
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (and-ones)&^and | (angle-ones)&^angle | (x - ones*' ') | x) & highs
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
	return i
}

// text reads a string.
func (d *decoder) text() (string, bool) {
	if d.space() != '"' {
		return "", false
	}
	from := d.i
	s, plain := d.quoted()
	if plain {
		return d.texts.Share(s), true
	}
	return d.escaped(from)
}

// escaped reads a string that quoted has skipped because it is not plain.
func (d *decoder) escaped(from int) (s string, ok bool) {
	if d.i > len(d.b) || json.Unmarshal(d.b[from:d.i], &s) != nil {
		return "", false
	}
	return s, true
}

// number reads an integer of up to 18 digits.
func (d *decoder) number() (int64, bool) {
	negative := d.i < len(d.b) && d.b[d.i] == '-'
	if negative {
		d.i++
	}
	digits, n := d.i, int64(0)
	for ; d.i < len(d.b) && d.b[d.i] >= '0' && d.b[d.i] <= '9' && d.i-digits < 19; d.i++ {
		n = n*10 + int64(d.b[d.i]-'0')
	}
	if l := d.i - digits; l == 0 || l > 18 || l > 1 && d.b[digits] == '0' {
		return 0, false
	}
	if d.i < len(d.b) {
		switch d.b[d.i] {
		case '.', 'e', 'E':
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

// count returns the number of elements in the array that the position is in, without moving it. There is at least
// one.
func (d *decoder) count() (n int, ok bool) {
	from := d.i
	for n = 1; ; n++ {
		d.space()
		if !d.skip() {
			return 0, false
		}
		switch d.space() {
		case ',':
			d.i++
		case ']':
			d.i = from
			return n, true
		default:
			return 0, false
		}
	}
}

// skip moves behind a value. It matches brackets and strings without further checks.
func (d *decoder) skip() bool {
	depth := 0
	for d.i < len(d.b) {
		switch d.b[d.i] {
		case '"':
			d.quoted()
			if d.i > len(d.b) || d.b[d.i-1] != '"' {
				return false
			}
			if depth == 0 {
				return true
			}
		case '{', '[':
			depth++
			d.i++
		case '}', ']':
			if depth--; depth < 0 {
				return false
			}
			d.i++
			if depth == 0 {
				return true
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return false
			}
			d.i++
		default:
			d.bare()
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// bare moves behind a number, true, false or null.
func (d *decoder) bare() {
	for ; d.i < len(d.b); d.i++ {
		switch d.b[d.i] {
		case ',', ':', ']', '}', ' ', '\n', '\t', '\r', '"', '{', '[':
			return
		}
	}
}
