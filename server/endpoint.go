package server

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// endpoint is a resource in one version. It is never changed, but for retired.
type endpoint struct {
	*resource.Resource
	traits
	kind    kind
	version *resource.Version
	gvk     schema.GroupVersionKind
	gr      schema.GroupResource
	// cache is nil for kinds that are never stored.
	cache *watchcache.Cache
	// raw: stored bytes are of this version.
	raw bool
	// goType is the struct that stored bytes decode into; nil if this version is another
	// one, or there is none.
	goType reflect.Type
	// typePrefix begins the stored bytes: {"kind":"Pod","apiVersion":"v1",
	typePrefix string
	// listHead begins a list, up to its metadata.
	listHead string
	// since is the revision above which stored bytes may be shown as they are; for a custom
	// kind, that of its definition.
	since int64
	// tag changes whenever a custom kind's definition does.
	tag string
	// retired: another definition of the kind has taken effect.
	retired *atomic.Bool
	// textForm names the encoding as JSON of this version that is kept with objects which
	// are stored in another version, or by an older definition.
	textForm watchcache.Encoding
	// versionedFields are the paths, by label, of selectable fields that must be read from
	// an object in this version, since the watch cache indexes the stored one.
	versionedFields map[string][]string
	// empty returns an object without any field set, which must not be changed, and
	// emptyText its JSON.
	empty     func() runtime.Object
	emptyText func() ([]byte, error)
	// shape describes how objects of this version divide into fields.
	shape func() *openapi.Shape
}

// newEndpoint makes the endpoint of a row's version.
func newEndpoint(r *resource.Resource, v *resource.Version, cache *watchcache.Cache) *endpoint {
	ep := &endpoint{Resource: r, version: v, gvk: r.GVK(v.Name), gr: r.GroupResource(), cache: cache, since: -1, retired: new(atomic.Bool)}
	ep.raw = ep.gvk == r.StorageGVK()
	apiVersion := ep.gvk.GroupVersion().String()
	ep.typePrefix = typePrefix(ep.gvk)
	ep.listHead = `{"kind":"` + ep.ListKind() + `","apiVersion":"` + apiVersion + `","metadata":`
	ep.empty = sync.OnceValue(v.New)
	ep.emptyText = sync.OnceValues(func() ([]byte, error) { return codec.Marshal(v.New(), codec.JSON) })
	if r.Custom != nil {
		ep.setUntyped(r.Custom, apiVersion)
		return ep
	}
	ep.kind, ep.traits = typedKind{ep}, typedTraits
	if !ep.raw {
		ep.textForm = watchcache.Encoding(apiVersion)
	} else if v.FromStorage == nil {
		ep.goType = reflect.TypeOf(v.New()).Elem()
	}
	ep.shape = sync.OnceValue(func() *openapi.Shape { return shapeOf(v.New()) })
	return ep
}

func (ep *endpoint) setUntyped(c resource.Custom, apiVersion string) {
	ep.kind, ep.traits = untypedKind{ep, c}, untypedTraits(c)
	ep.since, ep.tag = c.Since(), c.Tag()
	ep.textForm = watchcache.Encoding(ep.tag + " " + apiVersion)
	ep.shape = sync.OnceValue(func() *openapi.Shape {
		return openapi.CustomShape(c.Schema(ep.version.Name), c.KeepsUnknown())
	})
	if len(c.Known()) > 1 {
		ep.versionedFields = map[string][]string{}
		for _, f := range ep.Fields {
			ep.versionedFields[f.Label] = f.Paths[0]
		}
	}
}

func typePrefix(gvk schema.GroupVersionKind) string {
	return `{"kind":"` + gvk.Kind + `","apiVersion":"` + gvk.GroupVersion().String() + `",`
}

// sameAs reports whether another endpoint shows the same objects of a custom kind in the
// same way.
func (ep *endpoint) sameAs(other *endpoint) bool {
	if other == nil || !ep.redefinable || !other.redefinable {
		return false
	}
	return ep == other || ep.cache == other.cache && ep.tag == other.tag && ep.gvk == other.gvk && ep.listHead == other.listHead
}

// current reports whether an object's stored bytes may be shown as they are.
func (ep *endpoint) current(o *watchcache.Object) bool { return int64(o.Revision()) > ep.since }

// selects reports whether a field selector may have the label.
func (ep *endpoint) selects(label string) bool {
	switch label {
	case "metadata.name":
		return true
	case "metadata.namespace":
		// Kinds that list their fields list this one if they have it.
		return ep.Namespaced || len(ep.Fields) == 0 && ep.anyFields
	}
	for _, f := range ep.Fields {
		if f.Label == label {
			return true
		}
	}
	return false
}

// hasPath reports whether a resource of this scope has the path.
func (ep *endpoint) hasPath(in *info) bool {
	if len(in.parts) > 3 || in.verb == "proxy" {
		return false
	}
	if !ep.Namespaced {
		return in.namespace == "" || in.ofNamespace
	}
	// Objects of all namespaces can be listed; a single object needs its namespace.
	return in.namespace != "" || len(in.parts) == 1
}

// decode makes an object of the hub version of a stored value.
func (ep *endpoint) decode(ctx context.Context, value []byte, rev storage.Revision) (runtime.Object, error) {
	text, entries := managed.Cut(value)
	obj, _, err := ep.kind.decodeStored(ctx, text, entries, rev)
	return obj, err
}

// convert turns an object of the storage version into one of the endpoint's. Objects that
// need no conversion are only given their kind.
func (ep *endpoint) convert(obj runtime.Object) (runtime.Object, error) {
	if ep.version.FromStorage != nil {
		out, err := ep.version.FromStorage(obj)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	obj.GetObjectKind().SetGroupVersionKind(ep.gvk)
	return obj, nil
}

// toStorage turns an object of the endpoint's version into one of the storage version.
func (ep *endpoint) toStorage(obj runtime.Object) (resource.Object, error) {
	if f := ep.version.ToStorage; f != nil {
		out, err := f(obj)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	return asObjectOf(obj)
}

// asObjectOf asserts that an object has metadata.
func asObjectOf(obj runtime.Object) (resource.Object, error) {
	o, ok := obj.(resource.Object)
	if !ok {
		return nil, fmt.Errorf("object %T has no metadata", obj)
	}
	return o, nil
}

// text returns an object of the storage version as JSON of the endpoint's version, without
// managed fields.
func (ep *endpoint) text(obj resource.Object) ([]byte, error) { return textIn(ep.version, obj) }

func textIn(v *resource.Version, obj resource.Object) ([]byte, error) {
	entries := obj.GetManagedFields()
	obj.SetManagedFields(nil)
	defer obj.SetManagedFields(entries)
	if f := v.FromStorage; f != nil {
		out, err := f(obj)
		if err != nil {
			return nil, err
		}
		return codec.Marshal(out, codec.JSON)
	}
	return codec.Marshal(obj, codec.JSON)
}

// appendStored appends an object as JSON of the endpoint's version, which stored bytes are
// of. Bytes that an older definition has written are brought up to date, once.
func (ep *endpoint) appendStored(ctx context.Context, dst []byte, o *watchcache.Object) ([]byte, error) {
	if ep.current(o) {
		return o.AppendJSON(dst), nil
	}
	text, err := formOf(ctx, o, ep.textForm, func(o *watchcache.Object) ([]byte, error) {
		obj, err := ep.decode(ctx, o.Value(), o.Revision())
		if err != nil {
			return nil, err
		}
		return codec.Marshal(obj, codec.JSON)
	})
	return append(dst, text...), err
}

// updateRules returns the strategy's functions for writes of a subresource, "" for the
// object itself.
func (ep *endpoint) updateRules(subresource string) (prepare func(obj, old runtime.Object), validate func(obj, old runtime.Object) field.ErrorList) {
	st := &ep.Strategy
	switch subresource {
	case "", "scale":
		return st.PrepareForUpdate, st.ValidateUpdate
	case "status":
		return st.PrepareForStatusUpdate, st.ValidateStatusUpdate
	}
	s := ep.Subresource(subresource)
	return s.PrepareForUpdate, s.ValidateUpdate
}

// versionOf returns the served version of a kind, nil if the kind is another one.
func (ep *endpoint) versionOf(gvk schema.GroupVersionKind) *resource.Version {
	if gvk.Group != ep.Group || gvk.Kind != ep.Kind {
		return nil
	}
	return ep.Version(gvk.Version)
}
