package endpoint

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Encoded is an object in the form in which it is stored.
type Encoded struct {
	// Object is the object as it will be read back.
	Object resource.Object
	Value  []byte
	// Exact reports whether decoding Value is known to yield a Go object that equals Object.
	Exact bool
}

// objectKind has the operations on an endpoint's objects that depend on whether the resource has
// Go types: typedKind serves built-in resources, untypedKind custom ones.
// An endpoint gets its kind when it is made, so a verb never asks which of the two it has.
//
// Both work in the hub version: the storage version of a built-in resource, and the
// Endpoint's own version of a custom one.
type objectKind interface {
	// DecodeStored makes an object of a stored value, given as the text without managed
	// fields and the text of these. unknown reports whether the value may have fields that
	// the Go type lacks.
	DecodeStored(ctx context.Context, text, entries []byte, rev storage.Revision) (obj runtime.Object, unknown bool, err error)
	// NewObject returns an empty object of the hub version.
	NewObject() (runtime.Object, error)
	// EncodeStored returns the value to be stored for an object. replaced reports that admission
	// has put this object in place of the client's.
	EncodeStored(ctx context.Context, obj resource.Object, replaced bool) (Encoded, error)
	// ConvertStored adds to texts the JSON of stored objects in the endpoint's version. It
	// may call a conversion webhook, once for all of them.
	ConvertStored(ctx context.Context, objects []*watchcache.Object, texts map[*watchcache.Object][]byte) error
	// Definition returns where the kind's definition is stored and at which revision it must
	// be for a write to commit. ok is false for a built-in kind.
	Definition() (c storage.Condition, ok bool)

	// CheckPath returns the error for a path that the resource does not have.
	CheckPath(in *request.Info) error
	// MethodNotAllowed returns the error for a verb that the path does not have.
	MethodNotAllowed(in *request.Info) error
	// NoSubresource returns the error for a subresource that does not exist.
	NoSubresource(name string) error
	// FieldError returns the error for a field selector with an unknown label.
	FieldError(label string) error

	// DecodeBody makes an object of a request body. directive is the fieldValidation option.
	DecodeBody(body []byte, m serializer.MediaType, directive string) (obj resource.Object, warnings []string, err error)
	// CheckPatchType returns the error for a patch of a media type that the kind does not
	// take. cbor reports whether the server accepts CBOR.
	CheckPatchType(mediaType string, cbor bool) error
	// DecodePatched makes an object of a patched text.
	DecodePatched(p *PatchedText) (obj resource.Object, warnings []string, err error)
	// DecodeMerged makes an object of the result of an apply. It declines a text that needs
	// the slow path.
	DecodeMerged(m *MergedText) (obj resource.Object, ok bool)

	// ValidateNew returns all errors of a new object; found are those of admission.
	ValidateNew(ctx context.Context, obj resource.Object, found field.ErrorList, warn func(string)) field.ErrorList
	// ValidateUpdate returns the errors of the kind's own rules. found are those found so far.
	ValidateUpdate(ctx context.Context, obj, old resource.Object, subresource string, found field.ErrorList, warn func(string)) field.ErrorList
	// GroupKind returns the kind that errors about an object name.
	GroupKind(obj runtime.Object) schema.GroupKind

	// Texts returns an object before and after a write as JSON of another of its versions. old
	// is nil for a new object.
	Texts(ctx context.Context, apiVersion string, obj, old resource.Object) (before, after []byte, s *openapi.Shape, ok bool)
	// TypeConverter returns the schemas by which configurations are merged.
	TypeConverter() (managedfields.TypeConverter, error)
	// NewFieldManager returns a field manager of apimachinery for the endpoint's version.
	NewFieldManager(types managedfields.TypeConverter, conv Converter, subresource string) (*managedfields.FieldManager, error)
	// newVersion returns an empty object of a version of the kind.
	newVersion(gvk schema.GroupVersionKind) (runtime.Object, error)
	// convertVersion takes an object from the version that it names to another one.
	convertVersion(ctx context.Context, obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error)
	// ToMerge and fromMerge translate between objects and those that field managers take.
	ToMerge(obj resource.Object) runtime.Object
	FromMerge(obj runtime.Object) (resource.Object, error)
}

// traits are the differences on the wire between built-in and custom resources, and the facts
// about its kind that an Endpoint needs on hot paths.
type traits struct {
	// Redefinable: a stored definition makes the kind and may replace it at any time.
	Redefinable bool
	// AsksWebhook: a webhook converts objects between versions.
	AsksWebhook bool
	// SharedMetadata: an object's metadata are the same in all versions.
	SharedMetadata bool
	// Protobuf: objects have a protobuf form.
	Protobuf bool
	// Head: HEAD is answered as GET is. Otherwise it is not allowed.
	Head bool
	// PostToName: a POST to the path of an object creates.
	PostToName bool
	// WarnsEarly: the version's warning is given on paths that have no such verb, too.
	WarnsEarly bool
	// EmptyContinue: the last page of a list has an empty continue token.
	EmptyContinue bool
	// BareItems: items of a CBOR list leave out their kind and apiVersion.
	BareItems bool
	// anyFields: without selectable fields, metadata.namespace may still be selected by.
	anyFields bool
}

// MergedText is the text that an apply has merged without the kind's schemas.
type MergedText struct {
	Text    []byte
	Entries []metav1.ManagedFieldsEntry
	// Old is the object that was applied to and Before its text; nil for a create.
	Old    resource.Object
	Before []byte
}
