// Package scan finds its way through valid JSON text without decoding it.
//
// What it is given must be valid: of other text it may panic or loop over the
// end. All functions are pure.
package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Space is the index of the first byte from i on that is no white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Value is the index behind the value that begins at i.
func Value(b []byte, i int) int {
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		return nested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// brackets says of each byte what it does to the depth.
var brackets = [256]int8{'{': 1, '[': 1, '}': -1, ']': -1, '"': 2}

// nested is the index behind the object or array that begins at i.
func nested(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch brackets[b[i]] {
		case 1:
			depth++
		case -1:
			if depth--; depth == 0 {
				return i + 1
			}
		case 2:
			i = quoted(b, i) - 1
		}
	}
}

// quoted is the index behind the string that begins at i.
func quoted(b []byte, i int) int {
	for i++; ; {
		i = quoteOrSlash(b, i)
		if b[i] == '"' {
			return i + 1
		}
		i += 2 // what a backslash escapes
	}
}

// quoteOrSlash is the first position from i on of a quote or a backslash. It looks
// at eight bytes at a time: in found the high bit of a byte is set where it is one
// of those. (A borrow may set bits above the first one found, never below.)
func quoteOrSlash(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		if found := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// Unquote is what a JSON string says.
func Unquote(q []byte) string {
	if bytes.IndexByte(q, '\\') < 0 {
		return string(q[1 : len(q)-1])
	}
	if s, ok := unescape(q[1 : len(q)-1]); ok {
		return s
	}
	var s string
	if err := json.Unmarshal(q, &s); err != nil {
		return string(q)
	}
	return s
}

// unescape takes the backslashes off quotes and backslashes, which is all there
// is of escapes in most strings that have some.
func unescape(q []byte) (string, bool) {
	b := make([]byte, 0, len(q))
	for i := 0; i < len(q); i++ {
		if q[i] == '\\' {
			if i++; q[i] != '"' && q[i] != '\\' {
				return "", false
			}
		}
		b = append(b, q[i])
	}
	return string(b), true
}

// Member is one member of an object, as written.
type Member struct {
	Quote []byte // the name with its quotes
	Value []byte
}

// Name is the member's name.
func (m Member) Name() string { return Unquote(m.Quote) }

// Is compares the name with one that needs no escapes.
func (m Member) Is(name string) bool { return string(m.Quote[1:len(m.Quote)-1]) == name }

// Members appends the members of an object in the order of the text; anything
// else has none.
func Members(list []Member, text []byte) []Member {
	i := Space(text, 0)
	if i == len(text) || text[i] != '{' {
		return list
	}
	for i = Space(text, i+1); text[i] != '}'; {
		end := Value(text, i)
		m := Member{Quote: text[i:end]}
		i = Space(text, Space(text, end)+1) // over the colon
		end = Value(text, i)
		m.Value = text[i:end]
		list = append(list, m)
		if i = Space(text, end); text[i] == ',' {
			i = Space(text, i+1)
		}
	}
	return list
}

// Find is the value of the object's member of that name, which needs no
// escapes; nil if there is none.
func Find(text []byte, name string) []byte {
	i := Space(text, 0)
	if i == len(text) || text[i] != '{' {
		return nil
	}
	for i = Space(text, i+1); text[i] != '}'; {
		end := Value(text, i)
		quote := text[i:end]
		i = Space(text, Space(text, end)+1)
		end = Value(text, i)
		if string(quote[1:len(quote)-1]) == name {
			return text[i:end]
		}
		if i = Space(text, end); text[i] == ',' {
			i = Space(text, i+1)
		}
	}
	return nil
}

// Items appends the elements of an array; anything else has none.
func Items(list [][]byte, text []byte) [][]byte {
	i := Space(text, 0)
	if i == len(text) || text[i] != '[' {
		return list
	}
	for i = Space(text, i+1); text[i] != ']'; {
		end := Value(text, i)
		list = append(list, text[i:end])
		if i = Space(text, end); text[i] == ',' {
			i = Space(text, i+1)
		}
	}
	return list
}
