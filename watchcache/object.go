package watchcache

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

type (
	// An Object is one object as of one revision. It is immutable and shared by all readers. Its
	// bytes are those of the store; its labels and fields are read from them once and kept.
	Object = object.Object
	// A Field is a field that field selectors may use besides metadata.name and
	// metadata.namespace.
	Field = object.Field
	// An Encoding names an encoding of an object other than its stored bytes: protobuf, a table's
	// row, another API version, a watch frame. Two builders that use the same Encoding must build
	// the same bytes.
	Encoding = object.Encoding
	// A Selection is the part of a resource that a list or a watch reads. The zero value selects
	// everything; all conditions must hold. A field that the resource does not have is empty on
	// every object.
	Selection = selection.Selection
)

// NewObject reads a stored key of the cache's resource. It fails if the value is not a JSON object,
// if its metadata is not one, or if Options.Read fails.
//
// A value that carries metadata.resourceVersion, which this server never writes, is copied without
// it.
func NewObject(kv *storage.KeyValue, c *Cache) (*Object, error) { return object.New(kv, c.kind) }

// compile compiles a selection of the cache's objects.
func (c *Cache) compile(sel Selection) selection.Matcher {
	return selection.Compile(c.kind, c.indexed, sel)
}
