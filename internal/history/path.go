package history

import "strings"

// A Step of a path is a field's name or, with Key, the element of a list whose Key is Value.
type Step struct {
	Field      string
	Key, Value string
}

// A FieldPath names a field of an object.
type FieldPath []Step

// String writes a path as spec.template.spec.containers[web].image.
func (p FieldPath) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Key != "":
			b.WriteString("[" + s.Value + "]")
		case strings.ContainsAny(s.Field, "./"):
			b.WriteString("[" + s.Field + "]")
		case b.Len() > 0:
			b.WriteString("." + s.Field)
		default:
			b.WriteString(s.Field)
		}
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler.
func (p FieldPath) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Field returns the path of a field below p.
func (p FieldPath) Field(name string) FieldPath { return p.Element(Step{Field: name}) }

// Element returns the path of p with another step, in memory of its own.
func (p FieldPath) Element(s Step) FieldPath {
	out := make(FieldPath, len(p), len(p)+1)
	copy(out, p)
	return append(out, s)
}

// Under reports whether the path leads through these fields.
func (p FieldPath) Under(fields ...string) bool {
	if len(p) < len(fields) {
		return false
	}
	for i, f := range fields {
		if p[i].Key != "" || p[i].Field != f {
			return false
		}
	}
	return true
}

// ServerSet reports whether the field is one that writes of the object itself leave as it is: the
// status, and the metadata that the server sets.
func (p FieldPath) ServerSet() bool {
	if p.Under("status") {
		return true
	}
	for _, f := range serverSet {
		if p.Under("metadata", f) {
			return true
		}
	}
	return false
}

// serverSet are the fields of the metadata that the server sets.
var serverSet = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"}
