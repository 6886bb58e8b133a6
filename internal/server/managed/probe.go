package managed

import (
	"bytes"

	"fairlead.dev/internal/codec/jsonscan"
)

// hits looks up the changes with the given mark in the text of a set without parsing it. any reports whether the
// set has some of them, all whether it has every one. Most writes change a few fields; most managers do not own these, or the writer owns them already.
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
		return true, false // after so many changes, parsing the set is as cheap
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

// below returns the value of a set's element, or nil if the set does not have it.
func below(set []byte, element string) []byte {
	var space [16]jsonscan.Member
	for _, m := range jsonscan.Members(space[:0], set) {
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
