package server

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// kind is what an endpoint does with its objects in one of two ways, depending on whether
// the resource has Go types: typedKind serves built-in resources, untypedKind custom ones.
// An endpoint gets its kind when it is made, so a verb never asks which of the two it has.
//
// Both work in the hub version: the storage version of a built-in resource, and the
// endpoint's own version of a custom one.
type kind interface {
	// decodeStored makes an object of a stored value, given as the text without managed
	// fields and the text of these. unknown reports whether the value may have fields that
	// the Go type lacks.
	decodeStored(ctx context.Context, text, entries []byte, rev storage.Revision) (obj runtime.Object, unknown bool, err error)
	// newObject returns an empty object of the hub version.
	newObject() (runtime.Object, error)
	// encodeStored returns the value to be stored for an object, and the object as it will
	// be read back. replaced says that admission has put this object in place of the
	// client's.
	encodeStored(ctx context.Context, obj resource.Object, replaced bool) (resource.Object, []byte, error)
	// convertStored adds to texts the JSON of stored objects in the endpoint's version. It
	// may call a conversion webhook, once for all of them.
	convertStored(ctx context.Context, objects []*watchcache.Object, texts map[*watchcache.Object][]byte) error
	// definition returns where the kind's definition is stored and at which revision it must
	// be for a write to commit. A built-in kind has none.
	definition() (c storage.Condition, ok bool)

	// checkPath returns the error for a path that the resource does not have.
	checkPath(in *info) error
	// methodNotAllowed returns the error for a verb that the path does not have.
	methodNotAllowed(in *info) error
	// noSubresource returns the error for a subresource that does not exist.
	noSubresource(name string) error
	// unknownField returns the error for a field selector with an unknown label.
	unknownField(label string) error

	// decodeBody makes an object of a request body. directive is the fieldValidation option.
	decodeBody(body []byte, m codec.MediaType, directive string) (obj resource.Object, warnings []string, err error)
	// checkPatchType returns the error for a patch of a media type that the kind does not
	// take. cbor says that the server takes CBOR.
	checkPatchType(mediaType string, cbor bool) error
	// decodePatched makes an object of a patched text.
	decodePatched(p *patchedText) (obj resource.Object, warnings []string, err error)
	// decodeMerged makes an object of what an apply has merged. It declines a text that needs
	// the slow path.
	decodeMerged(m *mergedText) (obj resource.Object, ok bool)

	// validateNew returns all errors of a new object; found are those of admission.
	validateNew(ctx context.Context, obj resource.Object, found field.ErrorList, warn func(string)) field.ErrorList
	// validateUpdate returns the errors of the kind's own rules. found are those found so far.
	validateUpdate(ctx context.Context, obj, old resource.Object, subresource string, found field.ErrorList, warn func(string)) field.ErrorList
	// groupKind returns the kind that errors about an object name.
	groupKind(obj runtime.Object) schema.GroupKind

	// texts returns an object before and after a write as JSON of another of its versions. old
	// is nil for a new object.
	texts(ctx context.Context, apiVersion string, obj, old resource.Object) (before, after []byte, s *openapi.Shape, ok bool)
	// typeConverter returns the schemas by which configurations are merged.
	typeConverter() (managedfields.TypeConverter, error)
	// newFieldManager returns a field manager of apimachinery for the endpoint's version.
	newFieldManager(types managedfields.TypeConverter, conv converter, subresource string) (*managedfields.FieldManager, error)
	// newVersion returns an empty object of a version of the kind.
	newVersion(gvk schema.GroupVersionKind) (runtime.Object, error)
	// convert takes an object from the version that it names to another one.
	convert(ctx context.Context, obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error)
	// toMerge and fromMerge translate between objects and those that field managers take.
	toMerge(obj resource.Object) runtime.Object
	fromMerge(obj runtime.Object) (resource.Object, error)
}

// traits are the differences on the wire between built-in and custom resources, and what an
// endpoint has to know of its kind on hot paths.
type traits struct {
	// redefinable: a stored definition makes the kind and may replace it at any time.
	redefinable bool
	// asksWebhook: a webhook converts objects between versions.
	asksWebhook bool
	// sharedMetadata: an object's metadata are the same in all versions.
	sharedMetadata bool
	// protobuf: objects have a protobuf form.
	protobuf bool
	// head: HEAD is answered as GET is. Otherwise it is not allowed.
	head bool
	// postToName: a POST to the path of an object creates.
	postToName bool
	// warnsEarly: the version's warning is given on paths that have no such verb, too.
	warnsEarly bool
	// emptyContinue: the last page of a list has an empty continue token.
	emptyContinue bool
	// bareItems: items of a CBOR list leave out their kind and apiVersion.
	bareItems bool
	// anyFields: without selectable fields, metadata.namespace may still be selected by.
	anyFields bool
}

// mergedText is the text that an apply has merged without the kind's schemas.
type mergedText struct {
	text    []byte
	entries []metav1.ManagedFieldsEntry
	// old is the object that was applied to and before its text; nil if there was none.
	old    resource.Object
	before []byte
}
