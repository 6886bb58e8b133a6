package managed

import (
	"bytes"
	"slices"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// addWhole marks a value that was not there before. Most values of a create or an apply are new as a whole and are
// never compared in part, so their fields are kept as FieldsV1 text until open parses them.
func (n *node) addWhole(v []byte, s *openapi.Shape) {
	n.mark = added
	if !isEmpty(v) {
		n.whole = appendWhole(make([]byte, 0, len(v)/2), v, s)
	}
}

// appendWhole appends the FieldsV1 of a value and everything in it.
func appendWhole(dst, v []byte, s *openapi.Shape) []byte {
	dst = append(dst, '{')
	from := len(dst)
	next := func() {
		if len(dst) == from {
			dst = append(dst, `".":{}`...)
		}
		dst = append(dst, ',')
	}
	switch {
	case s.Kind == openapi.Leaf || isEmpty(v):
	case s.Kind == openapi.Keyed || s.Kind == openapi.Set:
		list := itemsOf(v, s).list
		if less := func(a, b item) int { return order(a.element, b.element) }; !slices.IsSortedFunc(list, less) {
			slices.SortFunc(list, less)
		}
		for i := range list {
			next()
			dst = append(appendQuoted(dst, list[i].element), ':')
			if len(list[i].values) == 1 {
				dst = appendWhole(dst, list[i].values[0], s.Elem)
			} else {
				dst = append(dst, "{}"...)
			}
		}
	default:
		var space [24]jsonscan.Member
		list := jsonscan.Members(space[:0], v)
		slices.SortFunc(list, func(a, b jsonscan.Member) int { return bytes.Compare(nameOf(a.Quote), nameOf(b.Quote)) })
		for _, m := range list {
			f := shapeIn(s, nameOf(m.Quote))
			if f == nil {
				continue // a field unknown to the type has no owner
			}
			next()
			dst = append(append(append(dst, `"f:`...), m.Quote[1:]...), ':')
			dst = appendWhole(dst, m.Value, f)
		}
	}
	return append(dst, '}')
}

// open parses the children of a value that was added as a whole.
func (n *node) open() {
	if n.whole == nil {
		return
	}
	whole, mark := n.whole, n.mark
	n.whole = nil
	n.parse(whole)
	n.remark(mark)
	n.sort()
}

// remark gives every marked path the mark m.
func (n *node) remark(m mark) {
	if n.mark != 0 {
		n.mark = m
	}
	for i := range n.kids {
		n.kids[i].remark(m)
	}
}
