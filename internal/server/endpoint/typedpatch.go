package endpoint

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
)

// PatchedText is the text that a patch has made of an object's.
type PatchedText struct {
	patch.Patch
	*patch.Result
	// old is the object that was patched and before its text in the endpoint's version.
	Old    resource.Object
	Before []byte
	// Unknown reports that Before may have fields that the Go type lacks.
	Unknown bool
	// name is that of the path, directive the fieldValidation option.
	Name, Directive string
}

func (k typedKind) DecodePatched(p *PatchedText) (resource.Object, []string, error) {
	if err := k.sameKind(p); err != nil {
		return nil, nil, err
	}
	obj, warnings, err := k.decodeChanged(p)
	if err != nil {
		return nil, nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(k.ep.ServedGVK)
	hub, err := k.ep.toStorage(obj)
	return hub, warnings, err
}

// decodeChanged decodes the members that the patch has changed into a copy of the old object
// if it can, and else all.
func (k typedKind) decodeChanged(p *PatchedText) (runtime.Object, []string, error) {
	if k.ep.Raw && serializer.CheckNumbers(p.JSON, p.Old) == nil {
		if o, changed, ok := unpatched(p.Old, p.Before, p.JSON); ok && codec.UnmarshalMembers(changed, o) {
			warnings, err := p.object(p.Objections)
			return o, warnings, err
		}
	}
	obj := k.ep.ServedVersion.New()
	warnings, err := p.DecodeInto(obj, k.ep.ServedVersion.New)
	return obj, warnings, err
}

// DecodeInto decodes the whole text into obj. fresh makes an object of the endpoint's
// version, by which errors are explained.
func (p *PatchedText) DecodeInto(obj runtime.Object, fresh func() runtime.Object) ([]string, error) {
	strict, err := serializer.DecodeText(p.JSON, obj, p.Strict)
	if err != nil {
		return nil, invalidPatch(p.Result, p.Explain(fresh(), err))
	}
	if len(strict) > 0 && p.Unknown {
		strict = without(strict, p.Before, fresh())
	}
	return p.object(union(p.Objections, strict))
}

// without leaves out the objections that there are to the text before the patch already: a
// newer server has stored those fields.
func without(objections []error, before []byte, obj runtime.Object) []error {
	had := map[string]bool{}
	old, _ := serializer.DecodeText(before, obj, true)
	for _, err := range old {
		had[err.Error()] = true
	}
	return slices.DeleteFunc(objections, func(err error) bool { return had[err.Error()] })
}

// union adds the objections to the patched text to those to the patch. A duplicate in a list
// of a merge patch is in both, and is reported once.
func union(objections, strict []error) []error {
	for _, err := range strict {
		if !slices.ContainsFunc(objections, func(told error) bool { return told.Error() == err.Error() }) {
			objections = append(objections, err)
		}
	}
	return objections
}

// sameKind refuses a patch that makes the object one of another kind. A strategic merge patch
// cannot: it is of fields alone.
func (k typedKind) sameKind(p *PatchedText) error {
	if p.Type == types.StrategicMergePatchType {
		return nil
	}
	apiVersion, kind := k.ep.ServedGVK.ToAPIVersionAndKind()
	said, version := jsonscan.Find(p.JSON, "kind"), jsonscan.Find(p.JSON, "apiVersion")
	if len(said) == len(kind)+2 && string(said[1:len(said)-1]) == kind && len(version) == len(apiVersion)+2 && string(version[1:len(version)-1]) == apiVersion {
		return nil
	}
	got, err := serializer.KindOf(p.JSON)
	switch {
	case err != nil:
		return invalidPatch(p.Result, err)
	case got.Version == "":
		return request.CheckName(&metav1.ObjectMeta{}, p.Name) // its kind cannot be determined
	case got.Kind == "":
		got.Kind = kind
	}
	if k.ep.versionOf(got) != nil {
		return nil
	}
	return invalidPatch(p.Result, serializer.ConversionError(got, k.ep.ServedGVK, p.JSON))
}

// object returns the strict decoding errors as warnings, or as an error if the directive is
// Strict.
func (p *PatchedText) object(objections []error) ([]string, error) {
	switch {
	case len(objections) == 0:
		return nil, nil
	case p.Directive == metav1.FieldValidationStrict:
		return nil, invalidPatch(p.Result, runtime.NewStrictDecodingError(objections))
	}
	return serializer.StrictWarnings(objections), nil
}

func invalidPatch(r *patch.Result, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), r.Shown(), err.Error())})
}
