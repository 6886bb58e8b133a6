package patch

import "fairlead.dev/server/internal/scan"

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
	var space [24]scan.Member
	all := scan.Members(space[:0], text)
	list := make([]member, 0, len(all))
next:
	for _, x := range all {
		m := member{x.Name(), x.Quote, x.Value}
		for k := range list {
			if list[k].name == m.name {
				list[k] = m
				continue next
			}
		}
		list = append(list, m)
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
