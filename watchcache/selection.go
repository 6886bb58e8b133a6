package watchcache

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// A Selection is the part of a resource that a list or a watch reads. The zero value selects
// everything; all conditions must hold. A field that the resource does not have is empty on every
// object.
type Selection struct {
	// Namespace is "" for all namespaces.
	Namespace string
	Name      string
	Labels    labels.Selector
	Fields    fields.Selector
	// Readable skips objects whose values are unreadable, where reads and watches would otherwise
	// fail. It suits readers that treat such an object as missing.
	Readable bool
}

// A base is the part of a selection by which its objects and topics are looked up; the filter is
// the rest, which is evaluated.
type base struct {
	kind baseKind
	// dim is the dimension of byValue.
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

// A dimension is a property of which objects have at most one value: an indexed field or a label.
type dimension struct {
	label bool
	name  string
}

// value returns the object's value; ok is false without one.
func (d dimension) value(o *Object) (value string, ok bool) {
	if d.label {
		return o.read().Lookup(d.name)
	}
	return o.field(d.name)
}

// A filter holds the conditions that the base does not cover, compiled for quick evaluation; nil
// matches every object.
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

// A matcher is a compiled selection.
type matcher struct {
	base   base
	filter *filter
	// ends, if not nil, is called after every checkInterval objects and ends the walk by true. left
	// counts down to the next call; stopped: it has returned true.
	ends    func() bool
	left    int
	stopped bool
}

// checkInterval is the number of objects between two calls of ends.
const checkInterval = 256

// goesOn reports whether the walk may look at one more object.
func (m *matcher) goesOn() bool {
	if m.ends == nil {
		return true
	}
	if m.left--; m.left < 0 {
		m.left = checkInterval
		m.stopped = m.stopped || m.ends()
	}
	return !m.stopped
}

// match reports whether the object, which may be nil, is in the selection.
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
