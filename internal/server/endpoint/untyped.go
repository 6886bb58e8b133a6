package endpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// untypedKind is the kind of custom resources, whose objects are resource.Untyped.
type untypedKind struct {
	ep     *Endpoint
	custom resource.Custom
}

func untypedTraits(c resource.Custom) traits {
	return traits{Redefinable: true, AsksWebhook: c.NeedsWebhook(), Head: true, PostToName: true, WarnsEarly: true, EmptyContinue: true}
}

// DecodeStored reads an object by the kind's definition unless a write by this definition has
// stored it in the endpoint's version.
func (k untypedKind) DecodeStored(ctx context.Context, text, entries []byte, rev storage.Revision) (runtime.Object, bool, error) {
	u, err := DecodeUntyped(text)
	if err != nil {
		return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", k.ep.ServedGR, err)
	}
	if !k.ep.Raw || u.GetAPIVersion() != k.ep.ServedGVK.GroupVersion().String() || int64(rev) <= k.ep.since || rev == 0 {
		if u, err = k.custom.Read(ctx, u); err != nil {
			return nil, false, err
		}
	}
	o := resource.NewUntyped(u)
	return o, false, k.complete(o, entries, rev)
}

// DecodeUntyped decodes an object without a Go type.
func DecodeUntyped(text []byte) (*unstructured.Unstructured, error) {
	object, err := codec.UnmarshalUntyped(text)
	return &unstructured.Unstructured{Object: object}, err
}

// complete gives an object its managed fields and its revision, unless that is 0.
func (k untypedKind) complete(u *resource.Untyped, entries []byte, rev storage.Revision) error {
	if entries != nil {
		list, err := managed.Decode(entries)
		if err != nil {
			return fmt.Errorf("stored %s cannot be decoded: %w", k.ep.ServedGR, err)
		}
		u.SetManagedFields(list)
	}
	if rev != 0 {
		u.SetResourceVersion(rev.String())
	}
	return nil
}

func (k untypedKind) NewObject() (runtime.Object, error) { return k.ep.ServedVersion.New(), nil }

// EncodeStored prunes an object that admission has replaced: only validation and the plugins
// that refuse see fields that have no place in the schema, as with kube-apiserver. An object
// that is stored in another version is answered as it will be read.
func (k untypedKind) EncodeStored(ctx context.Context, obj resource.Object, replaced bool) (Encoded, error) {
	u := obj.(*resource.Untyped)
	if replaced && k.ep.Raw {
		if _, err := k.custom.Coerce(&u.Unstructured, false); err != nil {
			return Encoded{}, err
		}
	}
	bare := withoutRevision(&u.Unstructured)
	if !k.ep.Raw {
		var err error
		if bare, err = k.custom.Store(ctx, bare, k.ep.StorageVersion); err != nil {
			return Encoded{}, err
		}
		bare = withoutRevision(&resource.NewUntyped(bare).Unstructured)
	}
	data, err := marshalUntyped(bare)
	if err != nil {
		return Encoded{}, err
	}
	value := managed.Insert(data, u.Entries)
	if k.ep.Raw {
		return Encoded{Object: obj, Value: value}, nil
	}
	read, err := k.ep.Decode(ctx, value, 0)
	if err != nil {
		return Encoded{}, err
	}
	obj, err = AsObject(read)
	return Encoded{Object: obj, Value: value}, err
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
	return codec.MarshalUntyped(u.Object)
}

func (k untypedKind) ConvertStored(ctx context.Context, objects []*watchcache.Object, texts map[*watchcache.Object][]byte) error {
	stored := make([]*unstructured.Unstructured, len(objects))
	records := make([][]byte, len(objects))
	for i, o := range objects {
		var text []byte
		text, records[i] = managed.Cut(o.Value())
		var err error
		if stored[i], err = DecodeUntyped(text); err != nil {
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
		if texts[objects[i]], err = serializer.Marshal(u, serializer.JSON); err != nil {
			return err
		}
	}
	return nil
}

func (k untypedKind) Definition() (storage.Condition, bool) {
	key, at := k.custom.Definition()
	return storage.Condition{Key: key, ModRevision: storage.Revision(at)}, true
}

// CheckPath wants a namespace in each path of a namespaced kind but those that read all.
func (k untypedKind) CheckPath(in *request.Info) error {
	ok := k.ep.hasPath(in)
	if k.ep.Namespaced && in.Namespace == "" {
		ok = len(in.Parts) == 1 && (in.Verb == "list" || in.Verb == "watch")
	}
	if !ok {
		return apistatus.ErrPathNotFound
	}
	return nil
}

// MethodNotAllowed names the verb: the paths of custom resources all have the same methods.
func (k untypedKind) MethodNotAllowed(in *request.Info) error {
	if in.Name == "" && (in.Verb == "update" || in.Verb == "patch") {
		return apierrors.NewBadRequest("name must be provided")
	}
	return apierrors.NewMethodNotSupported(k.ep.ServedGR, in.Verb)
}

func (k untypedKind) NoSubresource(name string) error {
	return apierrors.NewNotFound(k.ep.ServedGR, name)
}

func (untypedKind) FieldError(label string) error {
	return fmt.Errorf("field label not supported: %s", label)
}

func (untypedKind) CheckPatchType(mediaType string, cbor bool) error {
	accepted := untypedPatches
	if cbor {
		accepted = append(slices.Clone(accepted), string(types.ApplyCBORPatchType))
	}
	if slices.Contains(accepted, mediaType) {
		return nil
	}
	return apistatus.UnsupportedMediaType(accepted)
}

func (k untypedKind) ValidateNew(ctx context.Context, obj resource.Object, _ field.ErrorList, warn func(string)) field.ErrorList {
	errs := resource.ValidateObjectMeta(k.ep.Resource, obj)
	return append(errs, k.validate(ctx, obj, nil, false, errs, warn)...)
}

func (k untypedKind) ValidateUpdate(ctx context.Context, obj, old resource.Object, subresource string, found field.ErrorList, warn func(string)) field.ErrorList {
	return k.validate(ctx, obj, old, subresource == "status", found, warn)
}

// validate returns the errors by the version's schema and rules. old is nil for a new object.
func (k untypedKind) validate(ctx context.Context, obj, old resource.Object, status bool, found field.ErrorList, warn func(string)) field.ErrorList {
	v := resource.Validation{Object: &obj.(*resource.Untyped).Unstructured, Status: status, Errors: found, Warn: warn}
	if old != nil {
		v.Old = &old.(*resource.Untyped).Unstructured
	}
	return k.custom.Validate(ctx, v)
}

func (untypedKind) GroupKind(obj runtime.Object) schema.GroupKind {
	return obj.GetObjectKind().GroupVersionKind().GroupKind()
}
