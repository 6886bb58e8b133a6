package watchcache

import (
	"bytes"
	"encoding/json"
	"errors"
	"unsafe"
)

// The scanner finds values in stored JSON without decoding it. It relies on valid JSON, which
// everything in the store is, and stays in bounds otherwise. Of a key that stands twice in one
// object, which no encoder writes, the first one counts.

var errNotJSON = errors.New("not a JSON object")

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the place after the string whose opening quote is b[i], -1 if it does not end.
// A quote ends the string unless an odd number of backslashes stands before it.
func skipString(b []byte, i int) int {
	for at := i + 1; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		if b[at-1] != '\\' {
			return at + 1
		}
		before := at - 1
		for before > i && b[before] == '\\' {
			before--
		}
		if (at-1-before)%2 == 0 {
			return at + 1
		}
	}
}

// content returns the text between the quotes of the string at b[i:end]. It shares b's memory if it
// can.
func content(b []byte, i, end int) string {
	if raw := b[i+1 : end-1]; bytes.IndexByte(raw, '\\') < 0 {
		return share(raw)
	}
	return unquote(b[i:end])
}

// skipValue returns the place after the value that begins at b[i], -1 if it does not end.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			if i == start {
				return -1
			}
			return i
		}
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// members walks the members of one JSON object. After next, key is the member's key and at the
// place where its value begins. Before the next call, skip or an assignment to at must move at to
// the end of the value.
type members struct {
	b   []byte
	at  int
	key string
	// broken: the input is not valid JSON.
	broken bool
	begun  bool
}

// membersOf begins at the '{' at b[i].
func membersOf(b []byte, i int) members { return members{b: b, at: i + 1} }

func (m *members) next() bool {
	if m.broken {
		return false
	}
	i := skipSpace(m.b, m.at)
	if i < len(m.b) && m.b[i] == '}' {
		m.at = i + 1
		return false
	}
	if m.begun {
		if i >= len(m.b) || m.b[i] != ',' {
			return m.fail()
		}
		i = skipSpace(m.b, i+1)
	}
	m.begun = true
	if i >= len(m.b) || m.b[i] != '"' {
		return m.fail()
	}
	end := skipString(m.b, i)
	if end < 0 {
		return m.fail()
	}
	m.key = content(m.b, i, end)
	i = skipSpace(m.b, end)
	if i >= len(m.b) || m.b[i] != ':' {
		return m.fail()
	}
	m.at = skipSpace(m.b, i+1)
	return true
}

// skip moves past the current member's value.
func (m *members) skip() {
	if end := skipValue(m.b, m.at); end < 0 {
		m.fail()
	} else {
		m.at = end
	}
}

func (m *members) fail() bool {
	m.broken = true
	return false
}

// unquote decodes a quoted string with escapes.
func unquote(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}

// scalarText returns the value at b[i] as text: a string's content, or a number's or boolean's
// literal. end is the place after it, -1 if it does not end; ok is false for null, objects and
// arrays. The text shares b's memory if it can.
func scalarText(b []byte, i int) (text string, end int, ok bool) {
	if i >= len(b) {
		return "", -1, false
	}
	switch b[i] {
	case '{', '[':
		return "", skipNested(b, i), false
	case '"':
		if end = skipString(b, i); end < 0 {
			return "", -1, false
		}
		return content(b, i, end), end, true
	}
	if end = skipValue(b, i); end < 0 || b[i] == 'n' {
		return "", end, false
	}
	return share(b[i:end]), end, true
}

// share returns b as a string without a copy: stored bytes never change.
func share(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
