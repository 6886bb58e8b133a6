package object

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// An Object is one object as of one revision. It is immutable and shared by all readers; its
// attributes are read from its bytes once and kept.
type Object struct {
	kind *Kind
	body atomic.Pointer[body]
	// splice is the place of the resource version in the value.
	splice     splice
	attributes atomic.Pointer[attributes]
	encodings  encodedList
	sizes      atomic.Pointer[encodedSize]
}

// A body is an object's key, revisions and value. The history holds states of the same objects,
// each much like the next. So an object that was replaced some time ago is packed: its new body
// holds only its difference to its successor, and a reader restores the value from both. An object
// that has not been replaced for some time is packed as its difference to a similar object.
type body struct {
	kv *storage.KeyValue
	// base is the successor or the similar object, if kv.Value is packed.
	base *Object
	// attributes, if not nil, are the object's, in memory of their own.
	attributes *attributes
}

func (o *Object) kv() *storage.KeyValue { return o.body.Load().kv }

func (b *body) value() []byte {
	if b.base == nil {
		return b.kv.Value
	}
	return b.restore(nil)
}

// restore appends the value, which is packed.
func (b *body) restore(dst []byte) []byte {
	dst, err := delta.AppendText(dst, b.base.Value(), b.kv.Value)
	if err != nil {
		panic(fmt.Sprintf("%s at revision %d: %v", b.kv.Key, b.kv.ModRevision, err))
	}
	return dst
}

func (b *body) size() int {
	if b.base == nil {
		return len(b.kv.Value)
	}
	return delta.Size(b.kv.Value)
}

// New reads a stored key. It fails if the value is not a JSON object, if its metadata is not one, or
// if Kind.Open (with an *OpenError) or Kind.Read fails.
//
// A value that carries metadata.resourceVersion, which this server never writes, is copied without
// it.
func New(kv *storage.KeyValue, k *Kind) (*Object, error) { return read(kv, k, false) }

func read(kv *storage.KeyValue, k *Kind, again bool) (*Object, error) {
	kv, err := k.decrypted(kv, again)
	if err != nil {
		return nil, err
	}
	return NewDecrypted(kv, k)
}

// NewDecrypted is New for a key whose value is not encrypted.
func NewDecrypted(kv *storage.KeyValue, k *Kind) (*Object, error) {
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

// Revision returns the revision of the last write: the resource version.
func (o *Object) Revision() storage.Revision { return o.kv().ModRevision }

// CreateRevision returns the revision of the creation.
func (o *Object) CreateRevision() storage.Revision { return o.kv().CreateRevision }

// Value returns the object as stored, JSON without a resource version. It must not be changed.
func (o *Object) Value() []byte { return o.body.Load().value() }

// Size returns the length of Value.
func (o *Object) Size() int { return o.body.Load().size() }

// AppendJSON appends the object with its resource version.
func (o *Object) AppendJSON(dst []byte) []byte { return o.AppendJSONAt(dst, o.Revision()) }

// AppendJSONAt appends the object with another resource version: a deletion shows the last state at
// the deletion's revision.
func (o *Object) AppendJSONAt(dst []byte, rev storage.Revision) []byte {
	b := o.body.Load()
	if b.base == nil {
		return o.splice.insert(dst, b.kv.Value, rev)
	}
	from := len(dst)
	return o.splice.insertInto(b.restore(dst), from, rev)
}

// Readable reports whether the object's value can be read.
func Readable(o *Object) bool { return o.splice.kind != nowhere }
