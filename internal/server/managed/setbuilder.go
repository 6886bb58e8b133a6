package managed

import (
	"bytes"
	"slices"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// set returns the FieldsV1 of the fields in the configuration. ok is false, and set empty, if there are no fields or if
// the configuration is irregular.
func (a *Apply) set() (set []byte, ok bool) {
	g := setBuilder{b: make([]byte, 0, len(a.Config)/2)}
	g.b = append(g.b, '{')
	for _, top := range byName(a.Config) {
		name := nameOf(top.Quote)
		switch key := string(name); {
		case key == "kind" || key == "apiVersion" || a.Filter.drops(key):
		case key == "metadata":
			shape := shapeIn(a.Shape, name)
			g.element(`f:metadata`, false, func() {
				for _, m := range byName(top.Value) {
					if !notManaged[string(nameOf(m.Quote))] {
						g.member(m, shape)
					}
				}
			})
		default:
			g.member(top, a.Shape)
		}
	}
	set = append(g.b, '}')
	for _, p := range a.Filter.Without {
		if len(p) > 1 {
			n := parse(set)
			a.Filter.apply(n)
			set = n.appendFields(make([]byte, 0, len(set)))
			break
		}
	}
	return set, !g.odd && len(set) > len("{}")
}

// setBuilder builds a field set in sorted order.
type setBuilder struct {
	b   []byte
	odd bool
}

// byName returns the members of an object, sorted by name.
func byName(v []byte) []jsonscan.Member {
	list := jsonscan.Members(nil, v)
	slices.SortFunc(list, func(a, b jsonscan.Member) int { return bytes.Compare(nameOf(a.Quote), nameOf(b.Quote)) })
	return list
}

// element appends an element with the children that below appends to it. An element without children that is not
// itself a member of the set is left out.
func (g *setBuilder) element(name string, member bool, below func()) {
	begin := len(g.b)
	if g.b[begin-1] != '{' {
		g.b = append(g.b, ',')
	}
	g.b = append(appendQuoted(g.b, name), ':', '{')
	from := len(g.b)
	if member {
		g.b = append(g.b, `".":{}`...)
	}
	with := len(g.b)
	below()
	switch {
	case len(g.b) > with:
	case member:
		g.b = g.b[:from] // an empty element has the same meaning
	default:
		g.b = g.b[:begin]
		return
	}
	g.b = append(g.b, '}')
}

// member appends a member of an object of the shape. A map key is a member of the set by itself; a struct field
// only if it has no children.
func (g *setBuilder) member(m jsonscan.Member, s *openapi.Shape) {
	name := nameOf(m.Quote)
	f := shapeIn(s, name)
	if f == nil || s.Kind != openapi.Object {
		g.odd = true
		return
	}
	_, isField := s.Fields[string(name)]
	alone := f.Kind == openapi.Leaf || m.Value[0] == '{' && isEmpty(m.Value)
	g.element("f:"+string(name), alone || !isField, func() {
		if !alone {
			g.below(m.Value, f)
		}
	})
}

// below appends the elements in a value.
func (g *setBuilder) below(v []byte, s *openapi.Shape) {
	switch {
	case v[0] == '{' && s.Kind == openapi.Object:
		for _, m := range byName(v) {
			g.member(m, s)
		}
	case v[0] == '[' && (s.Kind == openapi.Keyed || s.Kind == openapi.Set):
		list := itemsOf(v, s).list
		slices.SortFunc(list, func(a, b item) int { return order(a.element, b.element) })
		for i := range list {
			g.element(list[i].element, true, func() {
				if s.Elem.Kind != openapi.Leaf {
					g.below(list[i].values[0], s.Elem)
				}
			})
		}
	default:
		g.odd = true
	}
}
