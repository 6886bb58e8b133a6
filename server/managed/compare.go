package managed

import (
	"bytes"

	"fairlead.dev/server/internal/scan"
	"fairlead.dev/server/openapi"
)

// notManaged are the fields of metadata that nobody owns: names, and what the
// server sets.
var notManaged = map[string]bool{
	"name": true, "namespace": true, "creationTimestamp": true, "selfLink": true, "uid": true,
	"clusterName": true, "generation": true, "managedFields": true, "resourceVersion": true,
}

// changes compares two objects and returns what was added, modified and
// removed, as a sorted tree.
func changes(old, new []byte, s *openapi.Shape, only Filter) *node {
	root := &node{}
	eachPair(old, new, func(name, o, n []byte) {
		key := string(name)
		switch {
		case key == "kind" || key == "apiVersion" || only.drops(key):
		case key == "metadata":
			m := root.add("f:metadata")
			meta := fieldShape(s, key)
			eachPair(o, n, func(name, o, n []byte) {
				if !notManaged[string(name)] {
					m.compareMember(string(name), o, n, meta)
				}
			})
			root.dropEmpty()
		default:
			root.compareMember(key, o, n, s)
		}
	})
	root.sort()
	only.apply(root)
	return root
}

// compare enters below n, which stands for the path of the value, what is
// different between two values. A value that is not there is nil.
func (n *node) compare(old, new []byte, s *openapi.Shape) {
	if bytes.Equal(old, new) {
		return
	}
	switch s.Kind {
	case openapi.Leaf:
		n.leaf(old, new)
		return
	case openapi.Loose:
		n.loose(old, new, s)
		return
	}
	if hollow(old) && hollow(new) {
		n.leaf(old, new) // empty, null and missing are different things
		return
	}
	if s.Kind == openapi.Object {
		n.compareMembers(old, new, s)
	} else {
		n.compareItems(old, new, s)
	}
	n.cameOrWent(old, new)
}

// cameOrWent marks a value that is there only on one side.
func (n *node) cameOrWent(old, new []byte) {
	if old == nil {
		n.mark = added
	} else if new == nil {
		n.mark = removed
	}
}

// leaf compares two values as a whole.
func (n *node) leaf(old, new []byte) {
	if n.cameOrWent(old, new); old != nil && new != nil && !same(old, new) {
		n.mark = modified
	}
}

// hollow says that a value is missing, null or empty.
func hollow(v []byte) bool {
	if len(v) == 0 || v[0] == 'n' {
		return true
	}
	i := scan.Space(v, 1)
	return v[0] == '{' && v[i] == '}' || v[0] == '[' && v[i] == ']'
}

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// loose compares values of which only the text says what they are.
func (n *node) loose(old, new []byte, s *openapi.Shape) {
	vague := func(v []byte) bool { return len(v) == 0 || v[0] == 'n' }
	switch {
	case isObject(old) && (isObject(new) || vague(new)) || isObject(new) && vague(old):
		if hollow(old) && hollow(new) {
			n.leaf(old, new)
			return
		}
		n.compareMembers(old, new, s)
		n.cameOrWent(old, new)
	case isObject(old):
		n.compareMembers(old, nil, s)
		n.leaf(old, new)
	case isObject(new):
		n.leaf(old, new)
		n.compareMembers(nil, new, s)
	default:
		n.leaf(old, new)
	}
}

func (n *node) compareMembers(old, new []byte, s *openapi.Shape) {
	eachPair(old, new, func(name, o, nv []byte) { n.compareMember(string(name), o, nv, s) })
}

func (n *node) compareMember(name string, old, new []byte, s *openapi.Shape) {
	if bytes.Equal(old, new) && (old == nil) == (new == nil) {
		return
	}
	f := fieldShape(s, name)
	if f == nil {
		return // nobody can own what no type knows
	}
	n.add("f:"+name).compare(old, new, f)
	n.dropEmpty()
}

func fieldShape(s *openapi.Shape, name string) *openapi.Shape {
	if s.Kind == openapi.Loose {
		return s
	}
	if f := s.Fields[name]; f != nil {
		return f
	}
	return s.Elem
}

// eachPair calls f for each member that either object has.
func eachPair(old, new []byte, f func(name, old, new []byte)) {
	var space [48]scan.Member
	a := scan.Members(space[:0:24], old)
	b := scan.Members(space[24:24:48], new)
	next := 0
	for i := range b {
		var was []byte
		for k := range a {
			m := &a[(next+k)%len(a)]
			if bytes.Equal(m.Quote, b[i].Quote) {
				was, m.Quote = m.Value, nil
				next += k + 1
				break
			}
		}
		f(nameOf(b[i].Quote), was, b[i].Value)
	}
	for i := range a {
		if a[i].Quote != nil {
			f(nameOf(a[i].Quote), a[i].Value, nil)
		}
	}
}

// nameOf is the name in the quotes.
func nameOf(quote []byte) []byte {
	if bytes.IndexByte(quote, '\\') < 0 {
		return quote[1 : len(quote)-1]
	}
	return []byte(scan.Unquote(quote))
}

// compareItems compares two lists item by item, as their keys or values say.
// Items that have the same element twice are compared as a whole.
func (n *node) compareItems(old, new []byte, s *openapi.Shape) {
	a, b := itemsOf(old, s), itemsOf(new, s)
	for _, i := range b.list {
		n.compareItem(i.element, a.byElement[i.element], i.values, s)
	}
	for _, i := range a.list {
		if b.byElement[i.element] == nil {
			n.compareItem(i.element, i.values, nil, s)
		}
	}
}

func (n *node) compareItem(element string, old, new [][]byte, s *openapi.Shape) {
	k := n.add(element)
	switch {
	case len(old) <= 1 && len(new) <= 1:
		k.compare(one(old), one(new), s.Elem)
	case len(old) > 1 && len(new) > 1:
		if !sameList(old, new) {
			k.mark = modified
		}
	case len(old) > 1:
		if len(new) == 1 {
			k.compare(nil, new[0], s.Elem)
		}
		k.mark |= removed
	default:
		if len(old) == 1 {
			k.compare(old[0], nil, s.Elem)
		}
		k.mark |= added
	}
	n.dropEmpty()
}

func one(list [][]byte) []byte {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func sameList(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

type items struct {
	list      []item
	byElement map[string][][]byte
}

type item struct {
	element string
	values  [][]byte
}

// itemsOf gives the items of a list their elements, each once.
func itemsOf(text []byte, s *openapi.Shape) (all items) {
	all.byElement = map[string][][]byte{}
	for _, v := range scan.Items(nil, text) {
		var e string
		switch {
		case s.Kind == openapi.Set && v[0] != '{' && v[0] != '[' && v[0] != 'n':
			e = "v:" + string(v)
		case s.Kind == openapi.Keyed && v[0] == '{':
			e, _ = keyElement(s.Keys, v)
		}
		if e == "" {
			continue
		}
		all.byElement[e] = append(all.byElement[e], v)
		if len(all.byElement[e]) == 1 {
			all.list = append(all.list, item{element: e})
		}
	}
	for i := range all.list {
		all.list[i].values = all.byElement[all.list[i].element]
	}
	return all
}
