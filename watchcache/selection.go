package watchcache

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Selection is the part of a resource that a list or a watch is about. The
// zero value is everything; all that is set must hold. A field that the
// resource does not have is empty on every object.
type Selection struct {
	// Namespace is "" for all of them.
	Namespace string
	Name      string
	Labels    labels.Selector
	Fields    fields.Selector
	// Readable leaves objects out whose values cannot be read, as if there were none,
	// where reads and watches would else fail: for those to whom such an object and
	// none are the same.
	Readable bool
}

// base is the part of a selection that finds its objects and its topics by a
// look-up; filter, the rest, has to be evaluated.
type base struct {
	kind baseKind
	// dim is what is looked up, for byValue.
	dim dimension
	// value is the namespace, the object's key, or the dimension's value.
	value string
}

type baseKind uint8

const (
	byNothing baseKind = iota
	byNamespace
	byKey
	byValue
)

// dimension is something objects have at most one value of: an indexed field
// or a label.
type dimension struct {
	label bool
	name  string
}

// value is the object's value; ok is false if it has none.
func (d dimension) value(o *Object) (value string, ok bool) {
	if d.label {
		return o.read().Lookup(d.name)
	}
	return o.field(d.name)
}

// filter is what a base leaves to be evaluated, in a form that is quick to
// evaluate; nil passes everything.
type filter struct {
	nothing, readable bool
	namespace, name   string
	fields            fields.Requirements
	labels            labels.Requirements
	// text identifies the filter: equal filters have equal texts.
	text string
}

func (f *filter) match(o *Object) bool {
	if f == nil {
		return true
	}
	if f.nothing || !o.readable() || f.namespace != "" && f.namespace != o.Namespace() || f.name != "" && f.name != o.Name() {
		return false
	}
	for i := range f.fields {
		r := &f.fields[i]
		value, _ := o.field(r.Field)
		if (value == r.Value) == (r.Operator == selection.NotEquals) {
			return false
		}
	}
	if len(f.labels) > 0 {
		facts := o.read()
		for i := range f.labels {
			if !f.labels[i].Matches(facts) {
				return false
			}
		}
	}
	return true
}

// matcher is a compiled selection.
type matcher struct {
	base   base
	filter *filter
	// ends, if not nil, is asked when examined objects have been looked at, of which there
	// are left, whether to look at more; stopped: it has said no.
	ends    func() bool
	left    int
	stopped bool
}

// examined is how many objects are looked at before it is asked again whether to go on.
const examined = 256

// goesOn reports whether one more object is to be looked at.
func (m *matcher) goesOn() bool {
	if m.ends == nil {
		return true
	}
	if m.left--; m.left < 0 {
		m.left = examined
		m.stopped = m.stopped || m.ends()
	}
	return !m.stopped
}

// match says whether the object, which may be nil, is in the selection.
func (m *matcher) match(o *Object) bool {
	if o == nil || !o.readable() {
		return false
	}
	switch m.base.kind {
	case byNamespace:
		if o.Namespace() != m.base.value {
			return false
		}
	case byKey:
		if o.Key() != m.base.value {
			return false
		}
	case byValue:
		if value, ok := m.base.dim.value(o); !ok || value != m.base.value {
			return false
		}
	}
	return m.filter.match(o)
}
