package endpoint

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Endpoint is a resource in one version. It is never changed, but for retired.
type Endpoint struct {
	*resource.Resource
	objectKind
	traits
	ServedVersion *resource.Version
	ServedGVK     schema.GroupVersionKind
	ServedGR      schema.GroupResource
	// Cache and Shard, which has the objects, are nil for kinds that are never stored.
	Cache *watchcache.Cache
	Shard *Shard
	// Raw: stored bytes are of this version.
	Raw bool
	// GoType is the struct that stored bytes decode into; nil if this version is another
	// one, or there is none.
	GoType reflect.Type
	// TypePrefix begins the stored bytes: {"kind":"Pod","apiVersion":"v1",
	TypePrefix string
	// ListHead begins a list, up to its metadata.
	ListHead string
	// since is the revision above which stored bytes may be shown as they are; for a custom
	// kind, that of its definition.
	since int64
	// tag changes whenever a custom kind's definition does.
	tag string
	// Retired: another definition of the kind has taken effect.
	Retired *atomic.Bool
	// TextForm names the encoding as JSON of this version that is kept with objects which
	// are stored in another version, or by an older definition.
	TextForm watchcache.Encoding
	// VersionedFields are the paths, by label, of selectable fields that must be read from
	// an object in this version, since the watch cache indexes the stored one.
	VersionedFields map[string][]string
	// Empty returns an object without any field set, which must not be changed, and
	// EmptyText its JSON.
	Empty     func() runtime.Object
	EmptyText func() ([]byte, error)
	// Shape describes how objects of this version divide into fields.
	Shape func() *openapi.Shape
}

// newEndpoint makes the endpoint of a row's version.
func newEndpoint(r *resource.Resource, v *resource.Version, cache *watchcache.Cache, shard *Shard) *Endpoint {
	ep := &Endpoint{Resource: r, ServedVersion: v, ServedGVK: r.GVK(v.Name), ServedGR: r.GroupResource(), Cache: cache, Shard: shard, since: -1, Retired: new(atomic.Bool)}
	ep.Raw = ep.ServedGVK == r.StorageGVK()
	apiVersion := ep.ServedGVK.GroupVersion().String()
	ep.TypePrefix = TypePrefix(ep.ServedGVK)
	ep.ListHead = `{"kind":"` + ep.ListKind() + `","apiVersion":"` + apiVersion + `","metadata":`
	ep.Empty = sync.OnceValue(v.New)
	ep.EmptyText = sync.OnceValues(func() ([]byte, error) { return serializer.Marshal(v.New(), serializer.JSON) })
	if r.Custom != nil {
		ep.setUntyped(r.Custom, apiVersion)
		return ep
	}
	ep.objectKind, ep.traits = typedKind{ep}, typedTraits
	if !ep.Raw {
		ep.TextForm = watchcache.Encoding(apiVersion)
	} else if v.FromStorage == nil {
		ep.GoType = reflect.TypeOf(v.New()).Elem()
	}
	ep.Shape = sync.OnceValue(func() *openapi.Shape { return shapeOf(v.New()) })
	return ep
}

func (ep *Endpoint) setUntyped(c resource.Custom, apiVersion string) {
	ep.objectKind, ep.traits = untypedKind{ep, c}, untypedTraits(c)
	ep.since, ep.tag = c.DefinitionRevision(), c.Tag()
	ep.TextForm = watchcache.Encoding(c.Forms() + " " + apiVersion)
	ep.Shape = sync.OnceValue(func() *openapi.Shape {
		return openapi.CustomShape(c.Schema(ep.ServedVersion.Name), c.PreservesUnknownFields())
	})
	if len(c.VersionNames()) > 1 {
		ep.VersionedFields = map[string][]string{}
		for _, f := range ep.Fields {
			ep.VersionedFields[f.Label] = f.Paths[0]
		}
	}
}

func TypePrefix(gvk schema.GroupVersionKind) string {
	return `{"kind":"` + gvk.Kind + `","apiVersion":"` + gvk.GroupVersion().String() + `",`
}

// sameAs reports whether another endpoint shows the same objects of a custom kind in the
// same way.
func (ep *Endpoint) sameAs(other *Endpoint) bool {
	if other == nil || !ep.Redefinable || !other.Redefinable {
		return false
	}
	return ep == other || ep.Cache == other.Cache && ep.tag == other.tag && ep.ServedGVK == other.ServedGVK && ep.ListHead == other.ListHead
}

// Current reports whether an object's stored bytes may be shown as they are.
func (ep *Endpoint) Current(o *watchcache.Object) bool { return int64(o.Revision()) > ep.since }

// Selects reports whether a field selector may have the label.
func (ep *Endpoint) Selects(label string) bool {
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
func (ep *Endpoint) hasPath(in *request.Info) bool {
	if len(in.Parts) > 3 || in.Verb == "proxy" {
		return false
	}
	if !ep.Namespaced {
		return in.Namespace == "" || in.OfNamespace
	}
	// Objects of all namespaces can be listed; a single object needs its namespace.
	return in.Namespace != "" || len(in.Parts) == 1
}

// decode makes an object of the hub version of a stored value.
func (ep *Endpoint) Decode(ctx context.Context, value []byte, rev storage.Revision) (runtime.Object, error) {
	text, entries := managed.Cut(value)
	obj, _, err := ep.DecodeStored(ctx, text, entries, rev)
	return obj, err
}

// Convert turns an object of the storage version into one of the endpoint's. Objects that
// need no conversion are only given their kind.
func (ep *Endpoint) Convert(obj runtime.Object) (runtime.Object, error) {
	if ep.ServedVersion.FromStorage != nil {
		out, err := ep.ServedVersion.FromStorage(obj)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	obj.GetObjectKind().SetGroupVersionKind(ep.ServedGVK)
	return obj, nil
}

// toStorage turns an object of the endpoint's version into one of the storage version.
func (ep *Endpoint) toStorage(obj runtime.Object) (resource.Object, error) {
	if f := ep.ServedVersion.ToStorage; f != nil {
		out, err := f(obj)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	return AsObject(obj)
}

// AsObject asserts that an object has metadata.
func AsObject(obj runtime.Object) (resource.Object, error) {
	o, ok := obj.(resource.Object)
	if !ok {
		return nil, fmt.Errorf("object %T has no metadata", obj)
	}
	return o, nil
}

// text returns an object of the storage version as JSON of the endpoint's version, without
// managed fields.
func (ep *Endpoint) Text(obj resource.Object) ([]byte, error) { return textIn(ep.ServedVersion, obj) }

func textIn(v *resource.Version, obj resource.Object) ([]byte, error) {
	entries := obj.GetManagedFields()
	obj.SetManagedFields(nil)
	defer obj.SetManagedFields(entries)
	if f := v.FromStorage; f != nil {
		out, err := f(obj)
		if err != nil {
			return nil, err
		}
		return serializer.Marshal(out, serializer.JSON)
	}
	return serializer.Marshal(obj, serializer.JSON)
}

// AppendStored appends an object as JSON of the endpoint's version, which stored bytes are
// of. Bytes that an older definition has written are brought up to date, once.
func (ep *Endpoint) AppendStored(ctx context.Context, dst []byte, o *watchcache.Object) ([]byte, error) {
	if ep.Current(o) {
		return o.AppendJSON(dst), nil
	}
	text, err := FormOf(ctx, o, ep.TextForm, func(o *watchcache.Object) ([]byte, error) {
		obj, err := ep.Decode(ctx, o.Value(), o.Revision())
		if err != nil {
			return nil, err
		}
		return serializer.Marshal(obj, serializer.JSON)
	})
	return append(dst, text...), err
}

// UpdateRules returns the strategy's functions for writes of a subresource, "" for the
// object itself.
func (ep *Endpoint) UpdateRules(subresource string) (prepare func(obj, old runtime.Object), validate func(obj, old runtime.Object) field.ErrorList) {
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
func (ep *Endpoint) versionOf(gvk schema.GroupVersionKind) *resource.Version {
	if gvk.Group != ep.Group || gvk.Kind != ep.Kind {
		return nil
	}
	return ep.Version(gvk.Version)
}

// FormOf returns an encoding that is kept with the object, made by build if absent. If
// another request was building it and was cancelled, it is built anew.
func FormOf(ctx context.Context, o *watchcache.Object, id watchcache.Encoding, build func(*watchcache.Object) ([]byte, error)) ([]byte, error) {
	for {
		text, err := o.Encoding(id, build)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return text, err
		}
	}
}

// ReplicasOnly returns the filter of the one field that a write of the scale subresource sets.
func (ep *Endpoint) ReplicasOnly() managed.Filter {
	if s := ep.Strategy.Scale; s != nil && s.Path != nil {
		return managed.Filter{Only: s.Path}
	}
	return managed.Filter{Only: []string{"spec", "replicas"}}
}

// plainColumns are the table columns of kinds without their own.
var plainColumns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
	{Name: "Created At", Type: "date", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]},
}

// TableColumns returns the columns of the kind's Table.
func (ep *Endpoint) TableColumns() []metav1.TableColumnDefinition {
	if ep.Row == nil {
		return plainColumns
	}
	return ep.Columns
}
