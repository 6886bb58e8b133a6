package object

import (
	"bytes"
	"slices"
	"sync/atomic"

	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// An Object is one object as of one revision. It is immutable and shared by all readers; its
// attributes are read from its bytes once and kept.
type Object struct {
	kind *Kind
	body atomic.Pointer[body]
	// splice is the place of the resource version in the value.
	splice     splice
	attributes atomic.Pointer[attributes]
	encodings  atomic.Pointer[encoded]
	sizes      atomic.Pointer[encodedSize]
}

// New reads a stored key. It fails if the value is not a JSON object, if its metadata is not one, or
// if Kind.Read fails.
//
// A value that carries metadata.resourceVersion, which this server never writes, is copied without
// it.
func New(kv *storage.KeyValue, k *Kind) (*Object, error) {
	kv, err := k.stored(kv)
	if err != nil {
		return nil, err
	}
	s, at, err := findSplice(kv.Value)
	if err == nil && at > 0 {
		kv = withValue(kv, append(append(bytes.Clone(kv.Value[:at]), "{}"...), kv.Value[at+len("null"):]...))
		s = splice{int32(at + 1), intoEmptyMetadata}
	}
	if err == nil && s.kind == intoMetadata && mayHoldVersion(kv.Value) && holdsVersion(kv.Value, s) {
		kv, s, err = withoutVersion(kv, s)
	}
	if err != nil {
		return nil, err
	}
	o := &Object{kind: k, splice: s}
	o.body.Store(&body{kv: kv})
	return o, nil
}

// Key returns the object's key in the store.
func (o *Object) Key() string { return o.kv().Key }

// Namespace returns the object's namespace, "" if its resource is not namespaced.
func (o *Object) Namespace() string {
	namespace, _ := o.kind.names(o.Key())
	return namespace
}

// Name returns the object's name.
func (o *Object) Name() string {
	_, name := o.kind.names(o.Key())
	return name
}

// UID returns metadata.uid.
func (o *Object) UID() types.UID { return types.UID(o.read().uid) }

// Revision returns the revision of the last write: the resource version.
func (o *Object) Revision() storage.Revision { return o.kv().ModRevision }

// CreateRevision returns the revision of the creation.
func (o *Object) CreateRevision() storage.Revision { return o.kv().CreateRevision }

// Value returns the object as stored, JSON without a resource version. It must not be changed.
func (o *Object) Value() []byte { return o.body.Load().value() }

// AppendJSON appends the object with its resource version.
func (o *Object) AppendJSON(dst []byte) []byte { return o.AppendJSONAt(dst, o.Revision()) }

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
	return o.read().fields[i], true
}

// read scans the object when its attributes are first needed. Two concurrent readers may both scan
// it, with the same result.
func (o *Object) read() *attributes {
	f := o.attributes.Load()
	if f != nil {
		return f
	}
	b := o.body.Load()
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
	x, y := a.read(), b.read()
	return slices.Equal(x.labels, y.labels) && slices.Equal(x.fields, y.fields)
}

// LabelOf returns the value of a label of the object and whether it has the label.
func LabelOf(o *Object, key string) (string, bool) { return o.read().Lookup(key) }

// FieldOf returns the value of a field of the object and whether its kind has the field.
func FieldOf(o *Object, name string) (string, bool) { return o.field(name) }
