package managed

import (
	"bytes"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// merger merges a configuration into an object as structured-merge-diff does, as long as both are regular: no
// nulls, no duplicates, and lists in the order of the live object. Its methods append the merged value, and return
// false if the input is irregular.
type merger struct{ changed bool }

func (m *merger) value(dst, live, config []byte, s *openapi.Shape) ([]byte, bool) {
	switch s.Kind {
	case openapi.Leaf:
		if config[0] == 'n' || !unique(config) {
			return dst, false
		}
		if live != nil && same(live, config) {
			return append(dst, live...), true
		}
		m.changed = true
		return append(dst, config...), true
	case openapi.Object:
		return m.object(dst, live, config, s)
	case openapi.Keyed, openapi.Set:
		return m.list(dst, live, config, s)
	}
	return dst, false
}

// empty is value for the cases in which one side is empty or absent. done is false if both sides have content to
// merge.
func (m *merger) empty(dst, live, config []byte) (out []byte, done bool) {
	switch {
	case !isEmpty(config):
		return dst, false
	case live == nil || live[0] == 'n':
		m.changed = true
		return append(dst, config...), true
	}
	return append(dst, live...), true
}

func (m *merger) object(dst, live, config []byte, s *openapi.Shape) ([]byte, bool) {
	if config[0] != '{' || len(live) > 0 && live[0] != '{' && live[0] != 'n' {
		return dst, false
	}
	if out, done := m.empty(dst, live, config); done {
		return out, true
	}
	var space [48]jsonscan.Member
	given := jsonscan.Members(space[:0:24], config)
	if !distinct(given) {
		return dst, false
	}
	find := finder{list: given}
	dst = append(dst, '{')
	from := len(dst)
	add := func(quote, live, config []byte) bool {
		f := shapeIn(s, quote[1:len(quote)-1])
		if f == nil {
			return false
		}
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(append(dst, quote...), ':')
		var ok bool
		dst, ok = m.value(dst, live, config, f)
		return ok
	}
	for _, l := range jsonscan.Members(space[24:24:48], live) {
		if g := find.take(l.Quote); g != nil {
			g.Quote = nil
			if !add(l.Quote, l.Value, g.Value) {
				return dst, false
			}
			continue
		}
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, l.Quote...), ':'), l.Value...)
	}
	for _, g := range given {
		if g.Quote != nil && !add(g.Quote, nil, g.Value) {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func (m *merger) list(dst, live, config []byte, s *openapi.Shape) ([]byte, bool) {
	if config[0] != '[' || len(live) > 0 && live[0] != '[' && live[0] != 'n' {
		return dst, false
	}
	if out, done := m.empty(dst, live, config); done {
		return out, true
	}
	wanted, ok := itemsOnce(config, s)
	if !ok {
		return dst, false
	}
	given := wanted.list
	there, ok := itemsOnce(live, s)
	if !ok {
		return dst, false
	}
	next := 0 // index into given
	dst = append(dst, '[')
	from := len(dst)
	add := func(live []byte, g *item) bool {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		if g == nil {
			dst = append(dst, live...)
			return true
		}
		next++
		var ok bool
		dst, ok = m.value(dst, live, g.values[0], s.Elem)
		return ok
	}
	for _, has := range there.list {
		var g *item
		if next < len(given) && given[next].element == has.element {
			g = &given[next]
		}
		if !add(has.values[0], g) {
			return dst, false
		}
	}
	for i := next; i < len(given); i++ {
		if there.find(given[i].element) >= 0 || !add(nil, &given[i]) {
			return dst, false // the configuration has another order than the live list
		}
	}
	return append(dst, ']'), true
}

// itemsOnce returns the items of a list if each has a path element of its own, with all its keys.
func itemsOnce(text []byte, s *openapi.Shape) (l items, ok bool) {
	l = itemsOf(text, s)
	n := 0
	for _, one := range l.list {
		if n += len(one.values); len(one.values) != 1 || !regular(one.element) {
			return l, false
		}
		for _, k := range s.Keys {
			if v := jsonscan.Find(one.values[0], k.Name); v == nil && k.Default == nil || v != nil && rank(v) > 2 {
				return l, false
			}
		}
	}
	return l, n == len(jsonscan.Items(nil, text))
}

// regular reports whether an element needs no escaping in encoding/json's encoding.
func regular(element string) bool {
	for i := range len(element) {
		if c := element[i]; c < ' ' || c >= 0x7f || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// distinct reports whether all names are regular and no name occurs twice.
func distinct(list []jsonscan.Member) bool {
	var seen map[string]bool // for a long list
	if len(list) > 32 {
		seen = make(map[string]bool, len(list))
	}
	for i, m := range list {
		if !regular(string(m.Quote)) || len(m.Quote) == len(`""`) {
			return false
		}
		if seen != nil {
			if seen[string(m.Quote)] {
				return false
			}
			seen[string(m.Quote)] = true
			continue
		}
		for _, other := range list[:i] {
			if bytes.Equal(other.Quote, m.Quote) {
				return false
			}
		}
	}
	return true
}

// unique reports whether a value has no null and no object with a duplicate name.
func unique(v []byte) bool {
	switch v[0] {
	case 'n':
		return false
	case '{':
		list := jsonscan.Members(nil, v)
		for _, m := range list {
			if !unique(m.Value) {
				return false
			}
		}
		return distinct(list)
	case '[':
		for _, x := range jsonscan.Items(nil, v) {
			if !unique(x) {
				return false
			}
		}
	}
	return true
}
