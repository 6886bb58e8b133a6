package check

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Path is where in an object a value stands, as faults say it: spec.containers[0].name.
// Nil is the object itself.
//
// Rules name hundreds of places and find fault with none, so a Path is made to live on
// the stack of the rule that names it: the three that make one are small enough to be
// compiled into it, and nothing here keeps a Path or the names in it. One that a rule
// keeps, hands to a func value or formats with %s costs an allocation, as do those
// above it.
type Path struct {
	above *Path
	name  string   // of a member; "" for an element
	more  []string // of the members below it
	key   string   // of an element of a map
	index int      // of an element of a list
	list  bool     // it is the latter
}

// At is the path of a member of the object, or of one further below.
func At(name string, more ...string) *Path { return &Path{name: name, more: more} }

// Child is the path of a member of what is at p, or of one further below.
func (p *Path) Child(name string, more ...string) *Path {
	return &Path{above: p, name: name, more: more}
}

// Index is the path of an element of the list at p.
func (p *Path) Index(i int) *Path { return &Path{above: p, index: i, list: true} }

// Key is the path of an element of the map at p.
func (p *Path) Key(key string) *Path { return &Path{above: p, key: key} }

// String is the path as faults say it.
func (p *Path) String() string {
	if p == nil {
		return "<nil>"
	}
	return string(p.append(nil))
}

// Field is the path as apimachinery's rules take it.
func (p *Path) Field() *field.Path {
	if p == nil {
		return nil
	}
	return field.NewPath(p.String())
}

func (p *Path) append(b []byte) []byte {
	if p == nil {
		return b
	}
	b = p.above.append(b)
	switch {
	case p.name != "":
		if p.above != nil {
			b = append(b, '.')
		}
		b = append(b, p.name...)
	case p.list:
		b = append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
	default:
		b = append(append(append(b, '['), p.key...), ']')
	}
	for _, name := range p.more {
		b = append(append(b, '.'), name...)
	}
	return b
}
