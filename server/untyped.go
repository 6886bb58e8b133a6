package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// untypedKind is the kind of custom resources, whose objects are resource.Untyped.
type untypedKind struct {
	ep     *endpoint
	custom resource.Custom
}

func untypedTraits(c resource.Custom) traits {
	return traits{redefinable: true, asksWebhook: c.Asks(), head: true, postToName: true, warnsEarly: true, emptyContinue: true}
}

// decodeStored reads an object by the kind's definition unless a write by this definition has
// stored it in the endpoint's version.
func (k untypedKind) decodeStored(ctx context.Context, text, entries []byte, rev storage.Revision) (runtime.Object, bool, error) {
	u, err := decodeUntyped(text)
	if err != nil {
		return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", k.ep.gr, err)
	}
	if !k.ep.raw || u.GetAPIVersion() != k.ep.gvk.GroupVersion().String() || int64(rev) <= k.ep.since || rev == 0 {
		if u, err = k.custom.Read(ctx, u); err != nil {
			return nil, false, err
		}
	}
	o := resource.NewUntyped(u)
	return o, false, k.complete(o, entries, rev)
}

// decodeUntyped decodes an object without a Go type.
func decodeUntyped(text []byte) (*unstructured.Unstructured, error) {
	if object, ok := fastjson.Object(text); ok {
		return &unstructured.Unstructured{Object: object}, nil
	}
	u := &unstructured.Unstructured{}
	return u, kjson.UnmarshalCaseSensitivePreserveInts(text, &u.Object)
}

// complete gives an object its managed fields and its revision, 0 for none.
func (k untypedKind) complete(u *resource.Untyped, entries []byte, rev storage.Revision) error {
	if entries != nil {
		list, err := managed.Decode(entries)
		if err != nil {
			return fmt.Errorf("stored %s cannot be decoded: %w", k.ep.gr, err)
		}
		u.SetManagedFields(list)
	}
	if rev != 0 {
		u.SetResourceVersion(rev.String())
	}
	return nil
}

func (k untypedKind) newObject() (runtime.Object, error) { return k.ep.version.New(), nil }

// encodeStored prunes an object that admission has replaced: only validation and the plugins
// that refuse see fields that have no place in the schema, as with kube-apiserver. An object
// that is stored in another version is answered as it will be read.
func (k untypedKind) encodeStored(ctx context.Context, obj resource.Object, replaced bool) (resource.Object, []byte, error) {
	u := obj.(*resource.Untyped)
	if replaced && k.ep.raw {
		if _, err := k.custom.Coerce(&u.Unstructured, false); err != nil {
			return nil, nil, err
		}
	}
	bare := withoutRevision(&u.Unstructured)
	if !k.ep.raw {
		var err error
		if bare, err = k.custom.Store(ctx, bare, k.ep.StorageVersion); err != nil {
			return nil, nil, err
		}
		bare = withoutRevision(&resource.NewUntyped(bare).Unstructured)
	}
	data, err := marshalUntyped(bare)
	if err != nil {
		return nil, nil, err
	}
	value := managed.Insert(data, u.Entries)
	if k.ep.raw {
		return obj, value, nil
	}
	read, err := k.ep.decode(ctx, value, 0)
	if err != nil {
		return nil, nil, err
	}
	obj, err = asObjectOf(read)
	return obj, value, err
}

// withoutRevision returns the object without its resourceVersion. It shares the rest.
func withoutRevision(u *unstructured.Unstructured) *unstructured.Unstructured {
	m, ok := u.Object["metadata"].(map[string]any)
	if !ok || m["resourceVersion"] == nil {
		return u
	}
	top, meta := maps.Clone(u.Object), maps.Clone(m)
	delete(meta, "resourceVersion")
	top["metadata"] = meta
	return &unstructured.Unstructured{Object: top}
}

// marshalUntyped returns an object without a Go type as JSON text.
func marshalUntyped(u *unstructured.Unstructured) ([]byte, error) {
	if text, ok := fastjson.MarshalObject(u.Object); ok {
		return text, nil
	}
	return json.Marshal(u.Object)
}

func (k untypedKind) convertStored(ctx context.Context, objects []*watchcache.Object, texts map[*watchcache.Object][]byte) error {
	stored := make([]*unstructured.Unstructured, len(objects))
	records := make([][]byte, len(objects))
	for i, o := range objects {
		var text []byte
		text, records[i] = managed.Cut(o.Value())
		var err error
		if stored[i], err = decodeUntyped(text); err != nil {
			return err
		}
	}
	all, err := k.custom.ReadAll(ctx, stored)
	if err != nil {
		return err
	}
	for i := range all {
		u := resource.NewUntyped(all[i])
		if err := k.complete(u, records[i], objects[i].Revision()); err != nil {
			return err
		}
		if texts[objects[i]], err = codec.Marshal(u, codec.JSON); err != nil {
			return err
		}
	}
	return nil
}

func (k untypedKind) definition() (storage.Condition, bool) {
	key, at := k.custom.Definition()
	return storage.Condition{Key: key, ModRevision: storage.Revision(at)}, true
}

// checkPath wants a namespace in each path of a namespaced kind but those that read all.
func (k untypedKind) checkPath(in *info) error {
	ok := k.ep.hasPath(in)
	if k.ep.Namespaced && in.namespace == "" {
		ok = len(in.parts) == 1 && (in.verb == "list" || in.verb == "watch")
	}
	if !ok {
		return errNotFoundPath
	}
	return nil
}

// methodNotAllowed names the verb: the paths of custom resources all have the same methods.
func (k untypedKind) methodNotAllowed(in *info) error {
	if in.name == "" && (in.verb == "update" || in.verb == "patch") {
		return apierrors.NewBadRequest("name must be provided")
	}
	return apierrors.NewMethodNotSupported(k.ep.gr, in.verb)
}

func (k untypedKind) noSubresource(name string) error { return apierrors.NewNotFound(k.ep.gr, name) }

func (untypedKind) unknownField(label string) error {
	return fmt.Errorf("field label not supported: %s", label)
}

func (untypedKind) checkPatchType(mediaType string, cbor bool) error {
	accepted := untypedPatches
	if cbor {
		accepted = append(slices.Clone(accepted), string(types.ApplyCBORPatchType))
	}
	if slices.Contains(accepted, mediaType) {
		return nil
	}
	return unsupportedMedia(accepted)
}

func (k untypedKind) validateNew(ctx context.Context, obj resource.Object, _ field.ErrorList, warn func(string)) field.ErrorList {
	errs := resource.ValidateObjectMeta(k.ep.Resource, obj)
	return append(errs, k.validate(ctx, obj, nil, false, errs, warn)...)
}

func (k untypedKind) validateUpdate(ctx context.Context, obj, old resource.Object, subresource string, found field.ErrorList, warn func(string)) field.ErrorList {
	return k.validate(ctx, obj, old, subresource == "status", found, warn)
}

// validate returns the errors by the version's schema and rules. old is nil for a new object.
func (k untypedKind) validate(ctx context.Context, obj, old resource.Object, status bool, found field.ErrorList, warn func(string)) field.ErrorList {
	v := resource.Validation{Object: &obj.(*resource.Untyped).Unstructured, Status: status, Faults: found, Warn: warn}
	if old != nil {
		v.Old = &old.(*resource.Untyped).Unstructured
	}
	return k.custom.Validate(ctx, v)
}

func (untypedKind) groupKind(obj runtime.Object) schema.GroupKind {
	return obj.GetObjectKind().GroupVersionKind().GroupKind()
}
