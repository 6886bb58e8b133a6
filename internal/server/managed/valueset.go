package managed

import (
	"slices"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/server/openapi"
)

// addMember adds below n a member that is new as a whole, or a list that was empty, straight from the Go value;
// most of a create is such members. It returns false and leaves n unchanged if the value is of another sort; the
// caller then compares the encoded text.
func (d *differ) addMember(n *node, p fastjson.Pair, s *openapi.Shape) bool {
	old, new := p.Values()
	if !p.InOld() && !new.IsZero() {
		if s.Kind == openapi.Leaf {
			n.mark = added
			return true
		}
		whole, ok := d.whole(new, s)
		if ok {
			n.mark, n.whole = added, whole
		}
		return ok
	}
	if s.Kind != openapi.Keyed && s.Kind != openapi.Set || !new.IsSlice() || new.Len() == 0 || !old.IsSlice() || old.Len() > 0 {
		return false
	}
	list, ok := elementsOf(new, s)
	if !ok {
		return false
	}
	kids := make([]node, len(list))
	for i := range list {
		whole, ok := d.whole(list[i].value, s.Elem)
		if !ok {
			return false
		}
		kids[i] = node{element: list[i].element, mark: added, whole: whole}
	}
	n.kids = kids
	return true
}

// whole returns the FieldsV1 of a value and everything in it, or nil if the value is empty.
func (d *differ) whole(v fastjson.Value, s *openapi.Shape) (whole []byte, ok bool) {
	d.room, ok = appendValue(d.room[:0], v, s)
	if !ok || len(d.room) == len("{}") {
		return nil, ok
	}
	return slices.Clone(d.room), true
}

// appendValue is appendWhole for a Go value.
func appendValue(dst []byte, v fastjson.Value, s *openapi.Shape) (out []byte, ok bool) {
	dst = append(dst, '{')
	from := len(dst)
	next := func() {
		if len(dst) == from {
			dst = append(dst, `".":{}`...)
		}
		dst = append(dst, ',')
	}
	switch {
	case s.Kind == openapi.Leaf || v.IsZero():
	case s.Kind == openapi.Loose:
		return dst, false
	case v.IsStruct() && s.Kind == openapi.Object:
		ok = v.Fields(func(name string, m fastjson.Value) bool {
			f, known := s.Fields[name]
			if !known {
				if f.Shape = s.Elem; f.Shape == nil {
					return true // a field unknown to the Go type has no owner
				}
			}
			next()
			dst = append(append(append(dst, `"f:`...), name...), `":`...)
			var ok bool
			dst, ok = appendValue(dst, m, f.Shape)
			return ok
		})
		if !ok {
			return dst, false
		}
	case v.IsSlice() && (s.Kind == openapi.Keyed || s.Kind == openapi.Set):
		list, ok := elementsOf(v, s)
		if !ok {
			return dst, false
		}
		slices.SortFunc(list, func(a, b element) int { return order(a.element, b.element) })
		for i := range list {
			next()
			dst = append(appendQuoted(dst, list[i].element), ':')
			if dst, ok = appendValue(dst, list[i].value, s.Elem); !ok {
				return dst, false
			}
		}
	default:
		keys, ok := v.Keys()
		if !ok || s.Kind != openapi.Object || s.Elem == nil || s.Elem.Kind != openapi.Leaf || len(s.Fields) > 0 {
			return dst, false
		}
		for _, k := range keys {
			next()
			dst = append(appendQuoted(dst, "f:"+k), ":{}"...)
		}
	}
	return append(dst, '}'), true
}

// element is a list item with its path element.
type element struct {
	element string
	value   fastjson.Value
}

// elementsOf returns the items of a list with their path elements. It returns false if an item has no element or
// two items share one.
func elementsOf(v fastjson.Value, s *openapi.Shape) ([]element, bool) {
	list := make([]element, v.Len())
	var seen map[string]bool // for long lists
	if len(list) > longList {
		seen = make(map[string]bool, len(list))
	}
	for i := range list {
		x := v.Item(i)
		var e string
		var ok bool
		if s.Kind == openapi.Set {
			e, ok = valueElement(x)
		} else if x.IsStruct() {
			e, ok = structElement(s.Keys, x)
		}
		if !ok {
			return nil, false
		}
		if seen[e] || seen == nil && slices.ContainsFunc(list[:i], func(k element) bool { return k.element == e }) {
			return nil, false
		}
		if seen != nil {
			seen[e] = true
		}
		list[i] = element{e, x}
	}
	return list, true
}

// valueElement returns the path element of a scalar.
func valueElement(x fastjson.Value) (string, bool) {
	b, ok := x.Append(append(make([]byte, 0, 64), "v:"...))
	return string(b), ok && b[2] != '{' && b[2] != '[' && b[2] != 'n'
}

// structElement is keyElement for a Go value.
func structElement(keys []openapi.ShapeKey, x fastjson.Value) (e string, ok bool) {
	b := append(make([]byte, 0, 64), "k:{"...)
	for _, k := range keys {
		v := x.Field(k.Name)
		if v.IsZero() && k.Default == nil {
			continue
		}
		if ok {
			b = append(b, ',')
		}
		ok = true
		b = append(append(append(b, '"'), k.Name...), `":`...)
		if v.IsZero() {
			b = append(b, k.Default...)
		} else if b, ok = v.Append(b); !ok {
			return "", false
		}
	}
	return string(append(b, '}')), ok
}
