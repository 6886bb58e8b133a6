package managed

import (
	"bytes"

	"fairlead.dev/internal/server/scan"
)

// hits looks for what is so marked in the changes in the text of a set, without
// reading the set: any says that some of it is there, all that nothing is missing.
// Most writes change a few fields, and most managers own none of them, or the
// writer has set them before.
func (n *node) hits(set []byte, what mark) (any, all bool) {
	all = true
	if n.mark&what != 0 && n.element != "" {
		if len(set) == len("{}") || below(set, ".") != nil {
			any = true
		} else {
			all = false
		}
	}
	if n.whole != nil && len(set) == len("{}") {
		return any, all && len(n.whole) == len("{}")
	}
	n.open()
	if len(n.kids) > 64 {
		return true, false // whoever changes so much may as well read the set
	}
	for i := range n.kids {
		k := &n.kids[i]
		sub := below(set, k.element)
		switch {
		case sub != nil:
			some, every := k.hits(sub, what)
			any, all = any || some, all && every
		case all:
			all = !k.has(what)
		}
	}
	return any, all
}

// below is the value of a set's element, nil if it is not in it.
func below(set []byte, element string) []byte {
	var space [16]scan.Member
	for _, m := range scan.Members(space[:0], set) {
		if bytes.IndexByte(m.Quote, '\\') < 0 {
			if m.Is(element) {
				return m.Value
			}
		} else if len(m.Quote) > len(element)+2 && m.Name() == element {
			return m.Value
		}
	}
	return nil
}
