package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// typedKind is the kind of resources with Go types.
type typedKind struct{ ep *Endpoint }

var typedTraits = traits{SharedMetadata: true, Protobuf: true, BareItems: true, anyFields: true}

func (k typedKind) DecodeStored(_ context.Context, text, entries []byte, rev storage.Revision) (obj runtime.Object, unknown bool, err error) {
	if obj, err = k.NewObject(); err != nil {
		return nil, false, err
	}
	if unknown, err = serializer.DecodeStored(text, obj); err != nil {
		return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", k.ep.ServedGR, err)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false, err
	}
	if entries != nil {
		list, err := managed.Decode(entries)
		if err != nil {
			return nil, false, fmt.Errorf("stored %s cannot be decoded: %w", k.ep.ServedGR, err)
		}
		m.SetManagedFields(list)
	}
	if rev != 0 {
		m.SetResourceVersion(rev.String())
	}
	return obj, unknown, nil
}

func (k typedKind) NewObject() (runtime.Object, error) {
	if v := k.ep.Version(k.ep.StorageVersion); v != nil && !k.ep.SharesStorage {
		return v.New(), nil
	}
	return resource.Scheme().New(k.ep.StorageGVK())
}

func (k typedKind) EncodeStored(_ context.Context, obj resource.Object, _ bool) (Encoded, error) {
	value, exact, err := serializer.EncodeStored(obj, k.ep.StorageGVK())
	return Encoded{obj, value, exact}, err
}

// ConvertStored is not called: no webhook converts built-in kinds.
func (typedKind) ConvertStored(context.Context, []*watchcache.Object, map[*watchcache.Object][]byte) error {
	return nil
}

func (typedKind) Definition() (storage.Condition, bool) { return storage.Condition{}, false }

func (k typedKind) CheckPath(in *request.Info) error {
	if !k.ep.hasPath(in) {
		return apistatus.ResourceNotFound()
	}
	return nil
}

func (typedKind) MethodNotAllowed(*request.Info) error { return apistatus.MethodNotAllowed() }

func (typedKind) NoSubresource(string) error { return apistatus.ResourceNotFound() }

func (k typedKind) FieldError(label string) error {
	switch f := k.ep.UnknownField; {
	case f != nil:
		return f(k.ep.ServedGVK, label)
	case len(k.ep.Fields) > 0:
		return fmt.Errorf("field label not supported: %s", label)
	}
	return fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace")
}

func (k typedKind) DecodeBody(body []byte, m serializer.MediaType, directive string) (resource.Object, []string, error) {
	obj := k.ep.ServedVersion.New()
	warnings, err := serializer.DecodeBody(body, m, k.ep.ServedGVK, obj, directive)
	if err != nil {
		return nil, nil, err
	}
	hub, err := k.ep.toStorage(obj)
	return hub, warnings, err
}

func (typedKind) CheckPatchType(mediaType string, cbor bool) error {
	return CheckTypedPatch(mediaType, cbor)
}

// CheckTypedPatch returns the error for a patch of a media type that objects with Go types do
// not take, such as a Scale. cbor reports whether the server accepts CBOR.
func CheckTypedPatch(mediaType string, cbor bool) error {
	if cbor && mediaType == string(types.ApplyCBORPatchType) || slices.Contains(patch.Types, mediaType) {
		return nil
	}
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "", "415: Unsupported Media Type", 0, false)
}

func (k typedKind) ValidateNew(_ context.Context, obj resource.Object, found field.ErrorList, _ func(string)) field.ErrorList {
	return append(found, resource.ValidateNew(k.ep.Resource, obj)...)
}

func (k typedKind) ValidateUpdate(_ context.Context, obj, old resource.Object, subresource string, _ field.ErrorList, _ func(string)) field.ErrorList {
	if _, validate := k.ep.UpdateRules(subresource); validate != nil {
		return validate(obj, old)
	}
	return nil
}

func (k typedKind) GroupKind(runtime.Object) schema.GroupKind { return k.ep.StorageGVK().GroupKind() }
