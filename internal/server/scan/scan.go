// Package scan navigates valid JSON text without decoding it.
//
// The text must be valid JSON: on other text the functions may panic or read beyond its end. All functions are
// pure.
package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Space returns the index of the first byte from i on that is not white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Value returns the index after the value that begins at i.
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

// brackets gives the change of depth for each bracket byte, and 2 for a quote.
var brackets = [256]int8{'{': 1, '[': 1, '}': -1, ']': -1, '"': 2}

// nested returns the index after the object or array that begins at i.
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

// quoted returns the index after the string that begins at i.
func quoted(b []byte, i int) int {
	for i++; ; {
		i = quoteOrSlash(b, i)
		if b[i] == '"' {
			return i + 1
		}
		i += 2 // skip the escaped byte
	}
}

// quoteOrSlash returns the first position from i on of a quote or a backslash. It examines eight bytes at a time:
// in found the high bit of a byte is set where it is one of those. (A borrow may set bits above the first one
// found, never below.)
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

// Unquote decodes a JSON string.
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

// unescape handles escaped quotes and backslashes, the only escapes in most strings that have any.
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

// Member is a member of an object, as written.
type Member struct {
	Quote []byte // the name with its quotes
	Value []byte
}

// Name returns the decoded name.
func (m Member) Name() string { return Unquote(m.Quote) }

// Is reports whether the member has a name, which must need no escapes.
func (m Member) Is(name string) bool { return string(m.Quote[1:len(m.Quote)-1]) == name }

// Members appends the members of an object in the order of the text. Other values have no members.
func Members(list []Member, text []byte) []Member {
	i := Space(text, 0)
	if i == len(text) || text[i] != '{' {
		return list
	}
	for i = Space(text, i+1); text[i] != '}'; {
		end := Value(text, i)
		m := Member{Quote: text[i:end]}
		i = Space(text, Space(text, end)+1) // skip the colon
		end = Value(text, i)
		m.Value = text[i:end]
		list = append(list, m)
		if i = Space(text, end); text[i] == ',' {
			i = Space(text, i+1)
		}
	}
	return list
}

// Find returns the value of the object's member with a name that needs no escapes, or nil.
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

// Items appends the elements of an array. Other values have no elements.
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
