package managed

import (
	"bytes"
	"iter"
	"slices"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/openapi"
)

// notManaged holds the metadata fields that have no owner: names, and fields set by the server.
var notManaged = map[string]bool{
	"name": true, "namespace": true, "creationTimestamp": true, "selfLink": true, "uid": true,
	"clusterName": true, "generation": true, "managedFields": true, "resourceVersion": true,
}

// changes compares two objects and returns the added, modified and removed paths, as a sorted tree.
func changes(old, new []byte, s *openapi.Shape, only Filter) *node {
	root := &node{}
	for p := range pairs(old, new) {
		switch key := string(p.name); {
		case key == "kind" || key == "apiVersion" || only.drops(key):
		case key == "metadata":
			_, shape := fieldOf(s, p.name)
			m := root.add("f:metadata")
			for p := range pairs(p.old, p.new) {
				if !notManaged[string(p.name)] {
					m.compareMember(p, shape)
				}
			}
			root.dropEmpty()
		default:
			root.compareMember(p, s)
		}
	}
	root.sort()
	only.apply(root)
	return root
}

// compare adds the differences between two values below n, the node of their path. A missing value is nil.
func (n *node) compare(old, new []byte, s *openapi.Shape) {
	if bytes.Equal(old, new) {
		return
	}
	switch {
	case s.Kind == openapi.Leaf:
		n.leaf(old, new)
		return
	case old == nil && (s.Kind != openapi.Loose || isObject(new)):
		n.addWhole(new, s)
		return
	case s.Kind == openapi.Loose:
		n.loose(old, new, s)
		return
	}
	if isEmpty(old) && isEmpty(new) {
		n.leaf(old, new) // empty, null and missing count as different
		return
	}
	if s.Kind == openapi.Object {
		n.compareMembers(old, new, s)
	} else {
		n.compareItems(old, new, s)
	}
	n.markAddedOrRemoved(old, new)
}

// markAddedOrRemoved marks a value present on only one side.
func (n *node) markAddedOrRemoved(old, new []byte) {
	if old == nil {
		n.mark = added
	} else if new == nil {
		n.mark = removed
	}
}

// leaf compares two values as a whole, without looking into them.
func (n *node) leaf(old, new []byte) {
	if n.markAddedOrRemoved(old, new); old != nil && new != nil && !same(old, new) {
		n.mark = modified
	}
}

// isEmpty reports whether a value is missing, null, {} or [].
func isEmpty(v []byte) bool {
	if len(v) == 0 || v[0] == 'n' {
		return true
	}
	i := jsonscan.Space(v, 1)
	return v[0] == '{' && v[i] == '}' || v[0] == '[' && v[i] == ']'
}

func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }

// loose compares values without a schema, whose type is known only from their text.
func (n *node) loose(old, new []byte, s *openapi.Shape) {
	vague := func(v []byte) bool { return len(v) == 0 || v[0] == 'n' }
	switch {
	case isObject(old) && (isObject(new) || vague(new)) || isObject(new) && vague(old):
		if isEmpty(old) && isEmpty(new) {
			n.leaf(old, new)
			return
		}
		n.compareMembers(old, new, s)
		n.markAddedOrRemoved(old, new)
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
	for p := range pairs(old, new) {
		n.compareMember(p, s)
	}
}

func (n *node) compareMember(p pair, s *openapi.Shape) {
	if bytes.Equal(p.old, p.new) && (p.old == nil) == (p.new == nil) {
		return
	}
	element, f := fieldOf(s, p.name)
	if f == nil {
		return // a field unknown to the type has no owner
	}
	n.add(element).compare(p.old, p.new, f)
	n.dropEmpty()
}

// fieldOf returns the path element and the shape of an object's member.
func fieldOf(s *openapi.Shape, name []byte) (element string, shape *openapi.Shape) {
	if f, ok := s.Fields[string(name)]; ok {
		return f.Element, f.Shape
	}
	return "f:" + string(name), shapeIn(s, name)
}

// shapeIn returns the shape of an object's member, or nil if the type does not have it.
func shapeIn(s *openapi.Shape, name []byte) *openapi.Shape {
	if f, ok := s.Fields[string(name)]; ok {
		return f.Shape
	}
	if s.Kind == openapi.Loose {
		return s
	}
	return s.Elem
}

// pair is one member of two objects. The side that lacks it is nil.
type pair struct{ name, old, new []byte }

// pairs returns the members of either object.
func pairs(old, new []byte) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		var space [48]jsonscan.Member
		a := jsonscan.Members(space[:0:24], old)
		b := jsonscan.Members(space[24:24:48], new)
		find := finder{list: a}
		for i := range b {
			var was []byte
			if m := find.take(b[i].Quote); m != nil {
				was, m.Quote = m.Value, nil
			}
			if !yield(pair{nameOf(b[i].Quote), was, b[i].Value}) {
				return
			}
		}
		for i := range a {
			if a[i].Quote != nil && !yield(pair{nameOf(a[i].Quote), a[i].Value, nil}) {
				return
			}
		}
	}
}

// finder finds members by name. Names usually come in the order of the list, so each search begins behind the last
// hit. A member that was taken no longer has a name.
type finder struct {
	list  []jsonscan.Member
	next  int
	index map[string]int // for a long list
}

// take returns the member of that name, or nil.
func (f *finder) take(quote []byte) *jsonscan.Member {
	const long = 48
	for k := range min(len(f.list), long) {
		at := (f.next + k) % len(f.list)
		if m := &f.list[at]; bytes.Equal(m.Quote, quote) {
			f.next = at + 1
			return m
		}
	}
	if len(f.list) <= long {
		return nil
	}
	if f.index == nil {
		f.index = make(map[string]int, len(f.list))
		for i := range f.list {
			f.index[string(f.list[i].Quote)] = i
		}
	}
	at, ok := f.index[string(quote)]
	if !ok || f.list[at].Quote == nil {
		return nil
	}
	f.next = at + 1
	return &f.list[at]
}

// nameOf returns the name without its quotes.
func nameOf(quote []byte) []byte {
	if bytes.IndexByte(quote, '\\') < 0 {
		return quote[1 : len(quote)-1]
	}
	return []byte(jsonscan.Unquote(quote))
}

// compareItems compares two lists item by item, matched by their keys or values. Items that share an element are
// compared as a whole.
func (n *node) compareItems(old, new []byte, s *openapi.Shape) {
	a, b := itemsOf(old, s), itemsOf(new, s)
	if n.kids == nil {
		n.kids = make([]node, 0, len(b.list))
	}
	for _, now := range b.list {
		var was [][]byte
		if at := a.find(now.element); at >= 0 {
			was, a.list[at].seen = a.list[at].values, true
		}
		n.compareItem(now.element, was, now.values, s)
	}
	for _, was := range a.list {
		if !was.seen {
			n.compareItem(was.element, was.values, nil, s)
		}
	}
}

func (n *node) compareItem(element string, old, new [][]byte, s *openapi.Shape) {
	k := n.add(element)
	switch {
	case len(old) <= 1 && len(new) <= 1:
		k.compare(one(old), one(new), s.Elem)
	case len(old) > 1 && len(new) > 1:
		if !slices.EqualFunc(old, new, same) {
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

// item is the part of a list that shares one path element: usually a single value.
type item struct {
	element string
	values  [][]byte
	seen    bool
}

// items are the items of a list, one for each path element.
type items struct {
	list  []item
	index map[string]int // for long lists
}

// longList is the number of items from which on a list has an index.
const longList = 32

// find returns the index of an element, or -1 if the list does not have it.
func (l *items) find(element string) int {
	if l.index != nil {
		if at, ok := l.index[element]; ok {
			return at
		}
		return -1
	}
	return slices.IndexFunc(l.list, func(i item) bool { return i.element == element })
}

// itemsOf returns the items of a list with their path elements.
func itemsOf(text []byte, s *openapi.Shape) (l items) {
	values := jsonscan.Items(nil, text)
	l.list = make([]item, 0, len(values))
	if len(values) > longList {
		l.index = make(map[string]int, len(values))
	}
	for i, v := range values {
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
		if at := l.find(e); at >= 0 {
			l.list[at].values = append(l.list[at].values, v)
			continue
		}
		if l.index != nil {
			l.index[e] = len(l.list)
		}
		l.list = append(l.list, item{element: e, values: values[i : i+1 : i+1]})
	}
	return l
}
