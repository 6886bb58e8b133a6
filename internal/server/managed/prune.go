package managed

import (
	"bytes"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// pruner removes from a merged object the fields and items that a manager applied before and now omits, as
// structured-merge-diff does. A field or item of the manager's last set is removed with everything in it unless
// another set has it. Everything inside a removed field or item is removed as well, even with other owners. A struct field
// is the exception: owning a field inside a struct counts as owning the struct.
//
// Its methods append the value without the removed parts, and return false if the input is irregular.
type pruner struct{ removed bool }

// below appends the remains of a value. last is the manager's last set from here on; owners are all managers' sets,
// including its new one; gone reports whether an enclosing value was removed because it has no owner.
func (p *pruner) below(dst, v []byte, s *openapi.Shape, last *node, owners []*node, gone bool) ([]byte, bool) {
	switch {
	case v[0] == 'n':
		return append(dst, v...), true
	case s.Kind == openapi.Object && v[0] == '{':
		return p.object(dst, v, s, last, owners, gone)
	case (s.Kind == openapi.Keyed || s.Kind == openapi.Set) && v[0] == '[':
		return p.list(dst, v, s, last, owners, gone)
	}
	return dst, false
}

func (p *pruner) object(dst, v []byte, s *openapi.Shape, last *node, owners []*node, gone bool) ([]byte, bool) {
	var space [24]jsonscan.Member
	begin := len(dst)
	dst = append(dst, '{')
	for _, m := range jsonscan.Members(space[:0], v) {
		element, f := fieldOf(s, nameOf(m.Quote))
		mark := len(dst)
		if mark > begin+1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.Quote...), ':')
		_, named := s.Fields[string(nameOf(m.Quote))]
		stays, ok := false, true
		if dst, stays, ok = p.child(dst, m.Value, f, last.kid(element), element, owners, named, gone); !ok {
			return dst, false
		}
		if !stays {
			dst = dst[:mark]
		}
	}
	return p.end(dst, begin, '}'), true
}

func (p *pruner) list(dst, v []byte, s *openapi.Shape, last *node, owners []*node, gone bool) ([]byte, bool) {
	there, ok := itemsOnce(v, s)
	if !ok {
		return dst, false
	}
	begin := len(dst)
	dst = append(dst, '[')
	for _, it := range there.list {
		mark := len(dst)
		if mark > begin+1 {
			dst = append(dst, ',')
		}
		at, stays, ok := len(dst), false, true
		if dst, stays, ok = p.child(dst, it.values[0], s.Elem, last.kid(it.element), it.element, owners, false, gone); !ok {
			return dst, false
		}
		if !stays {
			dst = dst[:mark]
			continue
		}
		if s.Kind == openapi.Keyed { // still the same item
			if now, _ := keyElement(s.Keys, dst[at:]); now != it.element {
				return dst, false
			}
		}
	}
	return p.end(dst, begin, ']'), true
}

// child appends the remains of a member or an item. had is the manager's last set from here on, nil if it has no
// field here; named marks a struct field.
func (p *pruner) child(dst, v []byte, s *openapi.Shape, had *node, element string, owners []*node, named, gone bool) (out []byte, stays, ok bool) {
	if had == nil {
		return append(dst, v...), true, true
	}
	if s == nil || isEmpty(v) && s.Kind != openapi.Leaf && had.mark == 0 {
		return dst, false, false
	}
	within := make([]*node, 0, 8)
	owned := false
	for _, o := range owners {
		if k := o.kid(element); k != nil {
			within = append(within, k)
			owned = owned || k.mark != 0 || named
		}
	}
	had1 := had.mark != 0 || named
	gone = gone || had1 && !owned
	switch {
	case had1 && s.Kind != openapi.Leaf && hasEmptyList(v):
		return dst, false, false // in no set
	case gone && had1:
		p.removed = true
		return dst, false, true
	case len(had.kids) == 0:
		return append(dst, v...), true, true
	}
	dst, ok = p.below(dst, v, s, had, within, gone)
	return dst, true, ok
}

// end closes an object or a list. If all of its contents were removed, it becomes null.
func (p *pruner) end(dst []byte, begin int, bracket byte) []byte {
	if len(dst) == begin+1 {
		return append(dst[:begin], "null"...)
	}
	return append(dst, bracket)
}

// hasEmptyList reports whether the value has an empty list. It may report true for a value without one.
func hasEmptyList(v []byte) bool {
	for i := 0; ; {
		at := bytes.IndexByte(v[i:], '[')
		if at < 0 {
			return false
		}
		if i += at + 1; v[jsonscan.Space(v, i)] == ']' {
			return true
		}
	}
}
