package patch

import (
	"bytes"
	"encoding/json"
)

// merge applies an RFC 7386 merge patch to an object's text. What the patch
// does not name is copied as it stands, in its place, and not decoded; what the
// patch adds comes behind it. Both texts must be valid JSON.
func merge(doc, patch []byte) []byte {
	out := make([]byte, 0, len(doc)+len(patch))
	return appendMerged(out, doc, members(patch))
}

// member is one member of an object, as written.
type member struct {
	name  string
	quote []byte // the name with its quotes
	value []byte
}

// members splits an object; anything else has none. Of members with the same
// name the last counts.
func members(text []byte) []member {
	i := space(text, 0)
	if i == len(text) || text[i] != '{' {
		return nil
	}
	var list []member
next:
	for i = space(text, i+1); text[i] != '}'; i = space(text, i+1) {
		end := value(text, i)
		m := member{quote: text[i:end]}
		m.name = unquote(m.quote)
		i = space(text, space(text, end)+1) // over the colon
		end = value(text, i)
		m.value = text[i:end]
		i = space(text, end)
		for k := range list {
			if list[k].name == m.name {
				list[k] = m
				if text[i] == '}' {
					break next
				}
				continue next
			}
		}
		list = append(list, m)
		if text[i] == '}' {
			break
		}
	}
	return list
}

func appendMerged(dst, doc []byte, changes []member) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	add := func(m member) []byte {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		return append(append(dst, m.quote...), ':')
	}
	done := make([]bool, len(changes))
	for _, m := range members(doc) {
		at := -1
		for k := range changes {
			if changes[k].name == m.name {
				at = k
			}
		}
		switch {
		case at < 0:
			dst = append(add(m), m.value...)
		default:
			done[at] = true
			if c := changes[at].value; c[0] != 'n' {
				dst = appendChange(add(m), m.value, c)
			}
		}
	}
	for k, c := range changes {
		if !done[k] && c.value[0] != 'n' {
			dst = appendChange(add(c), nil, c.value)
		}
	}
	return append(dst, '}')
}

// appendChange appends what becomes of a value.
func appendChange(dst, old, change []byte) []byte {
	if change[0] == '{' {
		return appendMerged(dst, old, members(change))
	}
	return append(dst, change...)
}

// space is the index of the first byte from i on that is no white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// value is the index behind the value that begins at i.
func value(b []byte, i int) int {
	switch b[i] {
	case '"':
		return quoted(b, i)
	case '{', '[':
		depth := 0
		for {
			switch b[i] {
			case '"':
				i = quoted(b, i)
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
	}
	for i < len(b) && !bytes.ContainsRune([]byte(",]} \n\t\r"), rune(b[i])) {
		i++
	}
	return i
}

// quoted is the index behind the string that begins at i.
func quoted(b []byte, i int) int {
	for i++; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

func unquote(q []byte) string {
	if bytes.IndexByte(q, '\\') < 0 {
		return string(q[1 : len(q)-1])
	}
	var s string
	if err := json.Unmarshal(q, &s); err != nil {
		return string(q)
	}
	return s
}
