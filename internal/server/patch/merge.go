package patch

import (
	"bytes"

	"fairlead.dev/internal/codec/jsonscan"
)

// merge applies an RFC 7386 merge patch to an object's text. Members that the patch does not name are copied as
// text, in place; members that the patch adds follow them. Both texts must be valid JSON.
func merge(doc, patch []byte) []byte {
	out := make([]byte, 0, len(doc)+len(patch))
	return appendMerged(out, doc, members(nil, patch))
}

// members splits an object into its members; other values have no members. If a name occurs more than once, the last
// value counts, in the place of the first.
func members(list []jsonscan.Member, text []byte) []jsonscan.Member {
	list = jsonscan.Members(list, text)
	if len(list) > long {
		return lasts(list)
	}
	for i := 1; i < len(list); i++ {
		if at := find(list[:i], list[i]); at >= 0 {
			list[at] = list[i]
			list = append(list[:i], list[i+1:]...)
			i--
		}
	}
	return list
}

// long is the number of members from which on names are found by a map.
const long = 32

// lasts is members for a long list.
func lasts(list []jsonscan.Member) []jsonscan.Member {
	at := make(map[string]int, len(list))
	kept := list[:0]
	for _, m := range list {
		name := m.Name()
		if i, twice := at[name]; twice {
			kept[i] = m
			continue
		}
		at[name] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

// names finds members of a list by name.
type names struct {
	list  []jsonscan.Member
	index map[string]int // of a long list
}

func namesOf(list []jsonscan.Member) names {
	n := names{list: list}
	if len(list) > long {
		n.index = make(map[string]int, len(list))
		for i, m := range list {
			n.index[m.Name()] = i
		}
	}
	return n
}

// find returns the index of the member with the name of m, or -1.
func (n names) find(m jsonscan.Member) int {
	if n.index == nil {
		return find(n.list, m)
	}
	if at, ok := n.index[m.Name()]; ok {
		return at
	}
	return -1
}

// find returns the index of the member with the name of m, or -1.
func find(list []jsonscan.Member, m jsonscan.Member) int {
	plain := bytes.IndexByte(m.Quote, '\\') < 0
	for i := range list {
		q := list[i].Quote
		if bytes.Equal(q, m.Quote) || (!plain || bytes.IndexByte(q, '\\') >= 0) && list[i].Name() == m.Name() {
			return i
		}
	}
	return -1
}

func appendMerged(dst, doc []byte, changes []jsonscan.Member) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	add := func(m jsonscan.Member) []byte {
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		return append(append(dst, m.Quote...), ':')
	}
	var space [24]jsonscan.Member
	done := make([]bool, len(changes))
	at := namesOf(changes)
	for _, m := range members(space[:0], doc) {
		at := at.find(m)
		switch {
		case at < 0:
			dst = append(add(m), m.Value...)
		default:
			done[at] = true
			if c := changes[at].Value; c[0] != 'n' {
				dst = appendChange(add(m), m.Value, c)
			}
		}
	}
	for k, c := range changes {
		if !done[k] && c.Value[0] != 'n' {
			dst = appendChange(add(c), nil, c.Value)
		}
	}
	return append(dst, '}')
}

// appendChange appends the value that replaces old.
func appendChange(dst, old, change []byte) []byte {
	if change[0] == '{' {
		var space [8]jsonscan.Member
		return appendMerged(dst, old, members(space[:0], change))
	}
	return append(dst, change...)
}
