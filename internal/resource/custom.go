package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Validation is the validation of a custom object.
type Validation struct {
	Object *unstructured.Unstructured
	Old    *unstructured.Unstructured // the existing object; nil for a create
	Status bool                       // only the status is written
	Errors field.ErrorList            // errors in its metadata, some of which prevent CEL rules from running
	// Warn is called with errors that the old object had too, which are tolerated.
	Warn func(text string)
}

// Custom decodes, converts and validates objects of a kind without a Go type. The functions of a row see the
// objects as *Untyped, in the row's version; the methods here see them without managed fields, which they do not
// use. Methods may be called from many goroutines. An object is modified only where the comment mentions it.
type Custom interface {
	// Tag identifies the definition; it changes whenever the definition changes.
	Tag() string
	// Forms names the way in which the server shows stored objects. Two kinds of a process with the same name show them
	// alike.
	Forms() string
	// DefinitionRevision is the definition's revision. Objects written later follow its rules, and can be read in the storage
	// version without conversion.
	DefinitionRevision() int64
	// Definition returns the storage key of the definition and the revision of its last state that is served
	// identically. A write by its rules is valid only while that state is stored.
	Definition() (key string, at int64)

	// Coerce removes the fields that the schema of the object's version does not have, in any version. With paths
	// it returns their paths.
	Coerce(obj *unstructured.Unstructured, paths bool) (dropped []string, err error)
	// IsCoerced reports whether Coerce is known to leave an object unchanged. It may return false for such an object.
	IsCoerced(obj *unstructured.Unstructured) bool
	// Read converts an object as it was stored, by any state of the definition, to the row's version. It may
	// consume its argument.
	Read(ctx context.Context, stored *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// ReadAll is Read for many objects, in their order. If one cannot be read, it returns an error.
	ReadAll(ctx context.Context, stored []*unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// NeedsWebhook reports whether conversion calls a webhook, which may take long.
	NeedsWebhook() bool
	// ConvertTo converts an object to another version of the kind. It returns the same object if the version is the same.
	ConvertTo(ctx context.Context, obj *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)

	// Store is ConvertTo for the storage version, with that version's defaults, so that the stored object equals the
	// object as it will be read.
	Store(ctx context.Context, obj *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)

	// Validate returns the errors of an object by the version's schema and rules. It replaces the strategy's
	// functions of that name.
	Validate(ctx context.Context, v Validation) field.ErrorList

	// Schema returns the version's OpenAPI v3 schema, without metadata; nil if everything is allowed.
	Schema(version string) *spec.Schema
	// VersionNames returns the names of all versions, including those that are not served.
	VersionNames() []string
	// PreservesUnknownFields reports whether unknown fields are preserved.
	PreservesUnknownFields() bool
}
