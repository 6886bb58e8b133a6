package fastjson

import (
	"encoding/json"
	"unicode/utf8"

	"fairlead.dev/internal/codec/jsonscan"
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
		i = jsonscan.Special(b, i)
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

// text reads a string.
func (d *decoder) text() (string, bool) {
	if d.skipSpace() != '"' {
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

// countElements returns the number of elements in the array that the position is in, without moving it. There is at least
// one.
func (d *decoder) countElements() (n int, ok bool) {
	from := d.i
	for n = 1; ; n++ {
		d.skipSpace()
		if !d.skip() {
			return 0, false
		}
		switch d.skipSpace() {
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
	end := jsonscan.Value(d.b, d.i)
	if end < 0 {
		return false
	}
	d.i = end
	return true
}
