package watchcache

import (
	"bytes"
	"strings"
	"sync/atomic"

	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Object is one object as of one revision. It is immutable and shared by all
// who read it; what is learned from its bytes is learned once and kept.
type Object struct {
	cache *Cache
	body  atomic.Pointer[body]
	// splice is where the resource version goes into the value.
	splice splice
	facts  atomic.Pointer[facts]
	forms  atomic.Pointer[form]
	sizes  atomic.Pointer[formSize]
}

// NewObject reads a stored key. It fails if the value is not a JSON object, its
// metadata is not one, or Options.Read cannot read it.
//
// A value that carries metadata.resourceVersion, as nothing of ours writes it,
// is copied without it.
func NewObject(kv *storage.KeyValue, c *Cache) (*Object, error) {
	kv, err := c.stored(kv)
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
	o := &Object{cache: c, splice: s}
	o.body.Store(&body{kv: kv})
	return o, nil
}

// Key is the object's key in the store.
func (o *Object) Key() string { return o.kv().Key }

// Namespace is the object's namespace, "" if its resource has none.
func (o *Object) Namespace() string {
	namespace, _ := o.cache.names(o.Key())
	return namespace
}

// Name is the object's name.
func (o *Object) Name() string {
	_, name := o.cache.names(o.Key())
	return name
}

// UID is metadata.uid.
func (o *Object) UID() types.UID { return types.UID(o.read().uid) }

// Revision is where the object was last written: its resource version.
func (o *Object) Revision() storage.Revision { return o.kv().ModRevision }

// CreateRevision is where the object came to be.
func (o *Object) CreateRevision() storage.Revision { return o.kv().CreateRevision }

// Value is the object as stored, JSON without a resource version. It must not
// be changed.
func (o *Object) Value() []byte { return o.body.Load().value() }

// AppendJSON appends the object with its resource version.
func (o *Object) AppendJSON(dst []byte) []byte { return o.AppendJSONAt(dst, o.Revision()) }

// Labels are the object's labels.
func (o *Object) Labels() labels.Labels { return o.read() }

// Fields are metadata.name, metadata.namespace and Options.Fields.
func (o *Object) Fields() fields.Fields { return (*objectFields)(o) }

func (o *Object) field(name string) (string, bool) {
	switch name {
	case "metadata.name":
		return o.Name(), true
	case "metadata.namespace":
		return o.Namespace(), true
	}
	i, ok := o.cache.fieldAt[name]
	if !ok {
		return "", false
	}
	return o.read().fields[i], true
}

// read scans the object the first time anybody asks what is in it. Two who ask
// at once may both scan; they find the same.
func (o *Object) read() *facts {
	f := o.facts.Load()
	if f != nil {
		return f
	}
	b := o.body.Load()
	value := b.value()
	if !o.readable() {
		value = nil
	}
	f = readFacts(value, o.cache.paths, o.cache.opts.Fields)
	if b.base == nil {
		o.facts.Store(f)
		if o.body.Load() != b {
			o.facts.Store(nil) // packed meanwhile: nothing may hold its bytes
		}
	}
	return f
}

// names splits a key of this cache.
func (c *Cache) names(key string) (namespace, name string) {
	rest := key[len(c.opts.Prefix):]
	if !c.opts.Namespaced {
		return "", rest
	}
	namespace, name, _ = strings.Cut(rest, "/")
	return namespace, name
}
