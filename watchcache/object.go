package watchcache

import (
	"bytes"
	"fmt"
	"strconv"
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
	kv    *storage.KeyValue
	// splice is where the resource version goes into the value.
	splice splice
	facts  atomic.Pointer[facts]
	forms  atomic.Pointer[form]
}

// splice is a place in a stored object and what must surround a resource
// version that is put there.
type splice struct {
	at   int32
	kind spliceKind
}

type spliceKind uint8

const (
	// intoMetadata: at is just after "metadata":{ and other members follow.
	intoMetadata spliceKind = iota
	// intoEmptyMetadata: at is just after "metadata":{ and } follows.
	intoEmptyMetadata
	// intoObject: there is no metadata; at is just after the opening brace and
	// other members follow.
	intoObject
	// intoEmptyObject: the object is {}; at is just after the opening brace.
	intoEmptyObject
)

// NewObject reads a stored key. It fails if the value is not a JSON object or
// its metadata is not one.
//
// A value that carries metadata.resourceVersion, as nothing of ours writes it,
// is copied without it.
func NewObject(kv *storage.KeyValue, c *Cache) (*Object, error) {
	s, at, err := findSplice(kv.Value)
	if err == nil && at > 0 {
		kv = withValue(kv, append(append(bytes.Clone(kv.Value[:at]), "{}"...), kv.Value[at+len("null"):]...))
		s = splice{int32(at + 1), intoEmptyMetadata}
	}
	if err == nil && s.kind == intoMetadata && mayHoldVersion(kv.Value) && holdsVersion(kv.Value, s) {
		kv, s, err = withoutVersion(kv, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kv.Key, err)
	}
	return &Object{cache: c, kv: kv, splice: s}, nil
}

func withValue(kv *storage.KeyValue, value []byte) *storage.KeyValue {
	kv2 := *kv
	kv2.Value = value
	return &kv2
}

// findSplice finds where the resource version goes; null is the place of a
// metadata that is null, else 0.
func findSplice(b []byte) (s splice, null int, err error) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return splice{}, 0, errNotJSON
	}
	s = splice{int32(i + 1), intoObject}
	m := membersOf(b, i)
	for m.next() {
		if m.key != "metadata" {
			m.skip()
			continue
		}
		switch {
		case m.at < len(b) && b[m.at] == '{':
			s = splice{int32(m.at + 1), intoMetadata}
			if j := skipSpace(b, m.at+1); j < len(b) && b[j] == '}' {
				s.kind = intoEmptyMetadata
			}
			return s, 0, nil
		case bytes.HasPrefix(b[m.at:], []byte("null")):
			return s, m.at, nil
		}
		return splice{}, 0, fmt.Errorf("metadata is %w", errNotJSON)
	}
	if m.broken {
		return splice{}, 0, errNotJSON
	}
	if !m.begun {
		s.kind = intoEmptyObject
	}
	return s, 0, nil
}

// mayHoldVersion is a quick look that spares most objects the walk through
// their metadata: a key is either written plainly or with escapes. It looks for
// the letter that is rare, which is several times as fast as looking for the
// whole key among so many quotes.
func mayHoldVersion(b []byte) bool {
	for rest := b; ; {
		i := bytes.IndexByte(rest, 'V')
		if i < 0 {
			break
		}
		if bytes.HasSuffix(rest[:i], []byte(`"resource`)) {
			return true
		}
		rest = rest[i+1:]
	}
	for rest := b; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			return false
		}
		if rest[i+1] == 'u' {
			return true
		}
		rest = rest[i+2:]
	}
}

func holdsVersion(b []byte, s splice) bool {
	m := membersOf(b, int(s.at)-1)
	for m.next() {
		if m.key == "resourceVersion" {
			return true
		}
		m.skip()
	}
	return false
}

// withoutVersion cuts every resourceVersion out of the metadata that begins at
// s.at.
func withoutVersion(kv *storage.KeyValue, s splice) (*storage.KeyValue, splice, error) {
	b := kv.Value
	cut := append(make([]byte, 0, len(b)), b[:s.at]...)
	kept := 0
	m := membersOf(b, int(s.at)-1)
	for {
		// from is after the separator that precedes the member.
		from := skipSpace(b, m.at)
		if m.begun && from < len(b) && b[from] == ',' {
			from = skipSpace(b, from+1)
		}
		if !m.next() {
			break
		}
		drop := m.key == "resourceVersion"
		if m.skip(); m.broken || drop {
			continue
		}
		if kept++; kept > 1 {
			cut = append(cut, ',')
		}
		cut = append(cut, b[from:m.at]...)
	}
	if m.broken {
		return kv, s, errNotJSON
	}
	if kept == 0 {
		s.kind = intoEmptyMetadata
	}
	cut = append(cut, '}')
	return withValue(kv, append(cut, b[m.at:]...)), s, nil
}

// Key is the object's key in the store.
func (o *Object) Key() string { return o.kv.Key }

// Namespace is the object's namespace, "" if its resource has none.
func (o *Object) Namespace() string {
	namespace, _ := o.cache.names(o.kv.Key)
	return namespace
}

// Name is the object's name.
func (o *Object) Name() string {
	_, name := o.cache.names(o.kv.Key)
	return name
}

// UID is metadata.uid.
func (o *Object) UID() types.UID { return types.UID(o.read().uid) }

// Revision is where the object was last written: its resource version.
func (o *Object) Revision() storage.Revision { return o.kv.ModRevision }

// CreateRevision is where the object came to be.
func (o *Object) CreateRevision() storage.Revision { return o.kv.CreateRevision }

// Value is the object as stored, JSON without a resource version. It must not
// be changed.
func (o *Object) Value() []byte { return o.kv.Value }

// AppendJSON appends the object with its resource version.
func (o *Object) AppendJSON(dst []byte) []byte { return o.AppendJSONAt(dst, o.kv.ModRevision) }

// AppendJSONAt appends the object with another resource version, as a deletion
// shows the last state at the deletion's revision.
func (o *Object) AppendJSONAt(dst []byte, rev storage.Revision) []byte {
	at, kind := o.splice.at, o.splice.kind
	dst = append(dst, o.kv.Value[:at]...)
	if kind >= intoObject {
		dst = append(dst, `"metadata":{`...)
	}
	dst = append(dst, `"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, int64(rev), 10)
	dst = append(dst, '"')
	if kind >= intoObject {
		dst = append(dst, '}')
	}
	if kind == intoMetadata || kind == intoObject {
		dst = append(dst, ',')
	}
	return append(dst, o.kv.Value[at:]...)
}

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
	if f == nil {
		f = readFacts(o.kv.Value, o.cache.paths, o.cache.opts.Fields)
		o.facts.Store(f)
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
