package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Validation is what a custom object is validated as.
type Validation struct {
	Object *unstructured.Unstructured
	Old    *unstructured.Unstructured // what was there; nil if it is new
	Status bool                       // only the status is new
	Faults field.ErrorList            // of its metadata: rules in CEL are not run on some
	// Warn is told of what is wrong with the object, was so before and is let be.
	Warn func(text string)
}

// Custom is how objects of a kind without a Go type come from their text and go
// to it. The functions of a row see them as *Untyped, in the row's version; the methods
// here have no use for the record of owners and see them without it. Methods may be called from many goroutines; an
// object is changed only where it says so.
type Custom interface {
	// Tag is another one whenever the kind's definition is.
	Tag() string
	// Since is the definition's revision: what is stored later was written by
	// its rules, and in the storage version is read as it stands.
	Since() int64
	// Definition is where the definition is stored, and the revision of its last
	// state that serves the same. A write by its rules is good as long as that
	// is what is stored.
	Definition() (key string, at int64)

	// Coerce takes from an object of any version what the version's schema has
	// no place for. With paths it says what that was.
	Coerce(obj *unstructured.Unstructured, paths bool) (dropped []string, err error)
	// Fits says that Coerce would leave an object as it is. If it does not say so, it
	// may still.
	Fits(obj *unstructured.Unstructured) bool
	// Read makes an object of the row's version of one as it was stored,
	// whenever and in whatever version that was. It may use up its argument.
	Read(ctx context.Context, stored *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// ReadAll is Read of many at once, in their order. One that cannot be read
	// fails them all.
	ReadAll(ctx context.Context, stored []*unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// Asks: to convert objects is to ask another program, which may take long.
	Asks() bool
	// In gives an object in another of the kind's versions. It is the same
	// object if there is nothing to do.
	In(ctx context.Context, obj *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)

	// Store is In for the storage version, with that version's defaults, so that
	// what is stored is what will be read.
	Store(ctx context.Context, obj *unstructured.Unstructured, version string) (*unstructured.Unstructured, error)

	// Validate tells the faults of an object by the version's schema and rules. It
	// takes the place of the strategy's functions of that name.
	Validate(ctx context.Context, v Validation) field.ErrorList

	// Schema is that of the version, in the form of OpenAPI v3, without
	// metadata; nil if everything is allowed.
	Schema(version string) *spec.Schema
	// Known are the names of all versions, also of those that are not served.
	Known() []string
	// KeepsUnknown: fields that the schema does not have are kept.
	KeepsUnknown() bool
}
