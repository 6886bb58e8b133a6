package object

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// UID returns metadata.uid.
func (o *Object) UID() types.UID { return types.UID(o.read().uidText()) }

// Labels returns the object's labels.
func (o *Object) Labels() labels.Labels { return o.read() }

// Fields returns metadata.name, metadata.namespace and the fields of the kind.
func (o *Object) Fields() fields.Fields { return (*objectFields)(o) }

func (o *Object) field(name string) (string, bool) {
	switch name {
	case "metadata.name":
		return o.Name(), true
	case "metadata.namespace":
		return o.Namespace(), true
	}
	i, ok := o.kind.fieldAt[name]
	if !ok {
		return "", false
	}
	return o.read().field(i), true
}

// read scans the object when its attributes are first needed. Two concurrent readers may both scan
// it, with the same result.
func (o *Object) read() *attributes {
	b := o.body.Load()
	if b.attributes != nil {
		return b.attributes
	}
	f := o.attributes.Load()
	if f != nil {
		return f
	}
	value := b.value()
	if !Readable(o) {
		value = nil
	}
	f = scanAttributes(value, o.kind.paths, o.kind.Fields)
	if b.base == nil {
		o.attributes.Store(f)
		if o.body.Load() != b {
			o.attributes.Store(nil) // packed meanwhile: its old bytes must be freed
		}
	}
	return f
}

// SameAttributes reports whether both objects have the same labels and fields.
func SameAttributes(a, b *Object) bool {
	return sameAttributes(a.read(), b.read())
}

// LabelOf returns the value of a label of the object and whether it has the label.
func LabelOf(o *Object, key string) (string, bool) { return o.read().Lookup(key) }

// FieldOf returns the value of a field of the object and whether its kind has the field.
func FieldOf(o *Object, name string) (string, bool) { return o.field(name) }

// objectFields implements fields.Fields for an object.
type objectFields Object

var _ fields.Fields = (*objectFields)(nil)

// Has reports whether the resource has such a field.
func (f *objectFields) Has(name string) bool {
	_, ok := (*Object)(f).field(name)
	return ok
}

// Get returns the field's value, "" if there is no such field.
func (f *objectFields) Get(name string) string {
	value, _ := (*Object)(f).field(name)
	return value
}
