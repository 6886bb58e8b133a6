package check

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Path is the path of a value in an object, as errors print it: spec.containers[0].name. Nil is the object itself.
//
// Rules construct hundreds of paths and usually report no error, so a Path is made to stay on the stack of the rule
// that constructs it: the three constructors are small enough to be inlined, and no function here retains a Path or
// its names. A Path that a rule retains, passes to a func value or formats with %s costs an allocation, as do its
// ancestors.
type Path struct {
	above *Path
	name  string   // of a member; "" for an element
	more  []string // of nested members below it
	key   string   // of an element of a map
	index int      // of an element of a list
	list  bool     // it is an element of a list
}

// At returns the path of a member of the object, or of a nested one.
func At(name string, more ...string) *Path { return &Path{name: name, more: more} }

// Child returns the path of a member of the value at p, or of a nested one.
func (p *Path) Child(name string, more ...string) *Path {
	return &Path{above: p, name: name, more: more}
}

// Index returns the path of an element of the list at p.
func (p *Path) Index(i int) *Path { return &Path{above: p, index: i, list: true} }

// Key returns the path of an element of the map at p.
func (p *Path) Key(key string) *Path { return &Path{above: p, key: key} }

// String returns the path as errors print it.
func (p *Path) String() string {
	if p == nil {
		return "<nil>"
	}
	return string(p.append(nil))
}

// Field returns the path as apimachinery's type.
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
