package watchcache

import (
	"sync/atomic"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A resource is the part of a cache that its snapshots share: how its keys and values are read and
// its selections compiled. It is immutable but for the counter.
type resource struct {
	opts Options
	name string // plural.group
	kind *object.Kind
	// indexed are Options.IndexFields.
	indexed map[string]bool
	// noteMiss is called by lists that miss an index.
	noteMiss func(selection.Dimension)

	decodeErrors atomic.Int64
}

// init completes a resource, which reads its objects as those of begin, if that is not nil, were read. noteMiss is still
// to be set.
func (r *resource) init(o Options, h *Hub, begin *Snapshot) {
	r.opts = o
	if begin != nil {
		r.kind, r.name, r.indexed = begin.resource.kind, begin.resource.name, begin.resource.indexed
		return
	}
	r.kind = o.kind(h.encodings, h.opts.Open)
	r.name = schema.GroupResource{Group: o.Group, Resource: o.Resource}.String()
	r.indexed = make(map[string]bool, len(o.IndexFields))
	for _, label := range o.IndexFields {
		r.indexed[label] = true
	}
}

// compile compiles a selection of the resource's objects.
func (r *resource) compile(sel Selection) selection.Matcher {
	return selection.Compile(r.kind, r.indexed, sel)
}

// object returns the object of a stored key, readable or not.
func (r *resource) object(kv *storage.KeyValue) *Object {
	o, err := object.New(kv, r.kind)
	if err != nil {
		r.decodeErrors.Add(1)
		o = object.NewUnreadable(kv, r.kind)
	}
	return o
}
