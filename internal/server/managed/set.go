package managed

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"fairlead.dev/internal/codec/jsonscan"
)

// mark is the role of a path in a tree: member of a set, or the kind of change.
type mark uint8

const (
	member mark = 1 << iota
	added
	modified
	removed
)

// node is the subtree of one path, in a field set or in a tree of changes. The zero node is empty.
type node struct {
	element string
	mark    mark
	kids    []node // sorted by element
	whole   []byte // replaces kids: the FieldsV1 of a value that was added as a whole
}

func (n *node) empty() bool { return n.mark == 0 && len(n.kids) == 0 }

// add appends a child. The caller calls sort afterwards.
func (n *node) add(element string) *node {
	if n.kids == nil {
		n.kids = make([]node, 0, 4)
	}
	n.kids = append(n.kids, node{element: element})
	return &n.kids[len(n.kids)-1]
}

// dropEmpty removes the last child if it is empty.
func (n *node) dropEmpty() {
	if last := len(n.kids) - 1; n.kids[last].empty() {
		n.kids = n.kids[:last]
	}
}

func (n *node) sort() {
	for i := range n.kids {
		n.kids[i].sort()
	}
	less := func(a, b node) int { return order(a.element, b.element) }
	if !slices.IsSortedFunc(n.kids, less) {
		slices.SortStableFunc(n.kids, less)
	}
}

// kid finds a child in a sorted node.
func (n *node) kid(element string) *node {
	i := sort.Search(len(n.kids), func(i int) bool { return order(n.kids[i].element, element) >= 0 })
	if i < len(n.kids) && n.kids[i].element == element {
		return &n.kids[i]
	}
	return nil
}

// subtract removes the paths with the given mark in changes from the set, and reports whether there were any.
func (n *node) subtract(changes *node, what mark) bool {
	hit := false
	if changes.mark&what != 0 && n.mark != 0 {
		n.mark, hit = 0, true
	}
	if len(n.kids) > 0 {
		changes.open()
	}
	emptied := false
	for i := range changes.kids {
		if k := n.kid(changes.kids[i].element); k != nil && k.subtract(&changes.kids[i], what) {
			hit, emptied = true, emptied || k.empty()
		}
	}
	if emptied {
		n.kids = slices.DeleteFunc(n.kids, func(k node) bool { return k.empty() })
	}
	return hit
}

// union adds the paths with the given mark in the other tree.
func (n *node) union(other *node, what mark) {
	if other.mark&what != 0 {
		n.mark = member
	}
	n.open()
	other.open()
	var more []*node // children that n lacks
	for i := range other.kids {
		o := &other.kids[i]
		if !o.has(what) {
			continue
		}
		if k := n.kid(o.element); k != nil {
			k.union(o, what)
		} else {
			more = append(more, o)
		}
	}
	if len(more) == 0 {
		return
	}
	was := n.kids
	n.kids = make([]node, 0, len(was)+len(more))
	for _, o := range more {
		for len(was) > 0 && order(was[0].element, o.element) < 0 {
			n.kids, was = append(n.kids, was[0]), was[1:]
		}
		n.add(o.element).union(o, what)
	}
	n.kids = append(n.kids, was...)
}

// has reports whether any path of the tree has the mark.
func (n *node) has(what mark) bool {
	if n.mark&what != 0 {
		return true
	}
	for i := range n.kids {
		if n.kids[i].has(what) {
			return true
		}
	}
	return false
}

// parse reads a set of FieldsV1, which must be valid. Elements of unknown types
// are left out.
func parse(text []byte) *node {
	n := &node{}
	n.parse(text)
	n.mark = 0
	n.sort()
	return n
}

// check returns an error if a set is malformed.
func check(text []byte) error {
	if !json.Valid(text) {
		return errors.New("error decoding set: invalid JSON")
	}
	for _, m := range jsonscan.Members(nil, text) {
		name := m.Name()
		bad := len(name) < 2 && name != "." || len(name) > 1 && name[1] != ':'
		if !bad && (strings.HasPrefix(name, "k:") || strings.HasPrefix(name, "v:")) {
			bad = !json.Valid([]byte(name[2:])) || name[0] == 'k' && name[2] != '{'
		}
		if bad {
			return fmt.Errorf("error decoding set: bad path element %q", name)
		}
		if err := check(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) parse(text []byte) {
	var buf [16]jsonscan.Member
	list := jsonscan.Members(buf[:0], text)
	n.kids = make([]node, 0, len(list))
	for i := range list {
		name := list[i].Name()
		if name == "." {
			n.mark = member
			continue
		}
		if !strings.Contains("fkvi", name[:1]) {
			continue
		}
		k := n.add(name)
		if v := list[i].Value; len(v) > len("{}") {
			k.parse(v)
		}
		if len(k.kids) == 0 {
			k.mark = member
		}
	}
}

// claim turns a tree of changes into the set of added and modified paths.
func (n *node) claim() {
	if n.mark&(added|modified) != 0 {
		n.mark = member
	} else {
		n.mark = 0
	}
	for i := range n.kids {
		n.kids[i].claim()
	}
	n.kids = slices.DeleteFunc(n.kids, func(k node) bool { return k.empty() })
}

// appendFields appends the set as FieldsV1.
func (n *node) appendFields(dst []byte) []byte {
	if n.whole != nil {
		return append(dst, n.whole...)
	}
	dst = append(dst, '{')
	first := true
	if n.mark != 0 && len(n.kids) > 0 && n.element != "" {
		dst, first = append(dst, `".":{}`...), false
	}
	for i := range n.kids {
		k := &n.kids[i]
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendQuoted(dst, k.element), ':')
		dst = k.appendFields(dst)
	}
	return append(dst, '}')
}

// appendQuoted appends a JSON string as encoding/json writes it.
func appendQuoted(dst []byte, s string) []byte {
	begin := len(dst)
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf:
			q, _ := json.Marshal(s)
			return append(dst[:begin], q...)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
