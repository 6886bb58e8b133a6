package selection

import (
	"fairlead.dev/internal/watchcache/object"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	operator "k8s.io/apimachinery/pkg/selection"
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

// A Base is the part of a selection by which its objects and topics are looked up; the filter is
// the rest, which is evaluated.
type Base struct {
	Kind BaseKind
	// Dim is the dimension of ByValue.
	Dim Dimension
	// Value is the namespace, the object's key, or the dimension's value.
	Value string
}

type BaseKind uint8

const (
	ByNothing BaseKind = iota
	ByNamespace
	ByKey
	ByValue
)

// A Dimension is a property of which objects have at most one value: an indexed field or a label.
type Dimension struct {
	Label bool
	Name  string
}

// Value returns the object's value; ok is false without one.
func (d Dimension) Value(o *object.Object) (value string, ok bool) {
	if d.Label {
		return object.LabelOf(o, d.Name)
	}
	return object.FieldOf(o, d.Name)
}

// A Filter holds the conditions that the base does not cover, compiled for quick evaluation; nil
// matches every object.
type Filter struct {
	nothing, readable bool
	namespace, name   string
	fields            fields.Requirements
	labels            labels.Requirements
	// text identifies the filter: equal filters have equal texts.
	text string
}

// Match reports whether the object fulfils the conditions.
func (f *Filter) Match(o *object.Object) bool {
	if f == nil {
		return true
	}
	if f.nothing || !object.Readable(o) || f.namespace != "" && f.namespace != o.Namespace() || f.name != "" && f.name != o.Name() {
		return false
	}
	for i := range f.fields {
		r := &f.fields[i]
		value, _ := object.FieldOf(o, r.Field)
		if (value == r.Value) == (r.Operator == operator.NotEquals) {
			return false
		}
	}
	if len(f.labels) > 0 {
		set := o.Labels()
		for i := range f.labels {
			if !f.labels[i].Matches(set) {
				return false
			}
		}
	}
	return true
}

// Nothing reports whether no object can match the filter.
func (f *Filter) Nothing() bool { return f != nil && f.nothing }

// SkipsUnreadable reports whether the selection skips objects whose values are unreadable.
func (f *Filter) SkipsUnreadable() bool { return f != nil && f.readable }

// Equal reports whether both filters have the same conditions.
func (f *Filter) Equal(other *Filter) bool {
	if f == nil || other == nil {
		return f == other
	}
	return f.text == other.text
}
