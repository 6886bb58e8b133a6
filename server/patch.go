package server

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/scan"
	"fairlead.dev/watchcache"
)

// patchVerb changes an object, or the part of it that a subresource is, as the
// patch says.
func patchVerb(c *call) error {
	defer c.within(updateTimeout)()
	opts, p, err := c.readPatch()
	if err != nil {
		return err
	}
	if applied(p.Type) {
		return c.apply(p, opts)
	}
	w, _, err := c.modify(c.info.name, change{
		next: func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
			obj, err := c.applyLight(p, now, old, opts.FieldValidation)
			if err != nil {
				return nil, err
			}
			if c.ep.Custom == nil { // those say themselves what they are
				obj.GetObjectKind().SetGroupVersionKind(c.ep.gvk)
			}
			return c.toStorage(obj)
		},
		manager: c.fieldManager(opts.FieldManager),
		opts:    &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
	})
	if err != nil {
		return err
	}
	return w.answer(c, http.StatusOK)
}

// readPatch reads the request's options and body.
func (c *call) readPatch() (*metav1.PatchOptions, patch.Patch, error) {
	var p patch.Patch
	kind, _, _ := strings.Cut(c.req.Header.Get("Content-Type"), ";")
	cbor := c.s.cfg.CBOR && kind == string(types.ApplyCBORPatchType)
	if c.ep.Custom != nil && c.info.subresource != "scale" && !cbor && !slices.Contains(customPatches, kind) {
		return nil, p, unsupportedMedia(c.customPatches())
	}
	if !cbor && !slices.Contains(patch.Types, kind) {
		return nil, p, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "", "415: Unsupported Media Type", 0, false)
	}
	body, err := c.body()
	if err != nil {
		return nil, p, err
	}
	opts := &metav1.PatchOptions{}
	if err := c.options(opts); err != nil {
		return nil, p, err
	}
	p = patch.Patch{Type: types.PatchType(kind), Body: body, Strict: opts.FieldValidation != metav1.FieldValidationIgnore}
	if errs := validation.ValidatePatchOptions(opts, p.Type); len(errs) > 0 {
		return nil, p, invalidOptions("PatchOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	return opts, p, nil
}

// currentJSON is the text a patch is applied to: the object in the version of
// the path.
func (c *call) currentJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if c.ep.raw && c.ep.current(now) {
		return now.AppendJSON(nil), nil
	}
	obj, err := c.ep.convert(old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	return codec.Marshal(obj, codec.JSON)
}

// applyLight is applyPatch without the record of owners in the text, which few
// patches are about. Should that fail, the error is made of the whole text.
func (c *call) applyLight(p patch.Patch, now *watchcache.Object, old resource.Object, directive string) (runtime.Object, error) {
	if !bytes.Contains(p.Body, []byte("managedFields")) {
		rest, err := c.lightJSON(now, old)
		if err != nil {
			return nil, err
		}
		if obj, err := c.applyPatch(p, rest, c.ep.version.New, old, directive); err == nil {
			return obj, nil
		}
	}
	current, err := c.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	// The object's members are to stand in the order in which they are encoded.
	if obj, err := c.ep.convert(old.DeepCopyObject()); err == nil {
		if text, err := codec.Marshal(obj, codec.JSON); err == nil {
			current = text
		}
	}
	return c.applyPatch(p, current, c.ep.version.New, old, directive)
}

// lightJSON is currentJSON without the record of owners.
func (c *call) lightJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if c.ep.raw && c.ep.current(now) {
		return managed.Versioned(c.textOf(now), now.Revision().String()), nil
	}
	current, err := c.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	rest, _ := managed.Cut(current)
	return rest, nil
}

// applyPatch decodes the patched text into what fresh makes, or into a copy of old,
// which the text is of, if that spares work; old may be nil.
func (c *call) applyPatch(p patch.Patch, current []byte, fresh func() runtime.Object, old runtime.Object, directive string) (runtime.Object, error) {
	ref := old
	if old == nil || !c.ep.raw {
		ref = fresh()
	}
	r, err := p.Apply(c.ctx, current, ref)
	if err != nil {
		return nil, err
	}
	if c.ep.Custom != nil && c.info.subresource != "scale" {
		return c.decodePatched(r, directive)
	}
	if old != nil {
		if err := c.sameKind(p, r); err != nil {
			return nil, err
		}
	}
	if c.ep.raw && old != nil && codec.CheckNumbers(r.JSON, old) == nil {
		if o, changed, ok := unpatched(old, current, r.JSON); ok && fastjson.UnmarshalStrict(changed, o) {
			return o, c.objectToPatch(r, r.Objections, directive)
		}
	}
	obj := fresh()
	strict, err := codec.DecodeText(r.JSON, obj, p.Strict)
	if err != nil {
		return nil, invalidPatch(r, r.Explain(c.ep.version.New(), err))
	}
	if len(strict) > 0 && c.lastRead.foreign {
		strict = without(strict, current, c.ep.version.New())
	}
	return obj, c.objectToPatch(r, more(r.Objections, strict), directive)
}

// without leaves out the objections that there are to the text before the patch
// already: they are about what a newer server has stored.
func without(objections []error, before []byte, obj runtime.Object) []error {
	had := map[string]bool{}
	old, _ := codec.DecodeText(before, obj, true)
	for _, err := range old {
		had[err.Error()] = true
	}
	return slices.DeleteFunc(objections, func(err error) bool { return had[err.Error()] })
}

// more adds the objections to the patched text to those to the patch; what stands twice in
// a list of a merge patch is in both, and is told once.
func more(objections, strict []error) []error {
	for _, err := range strict {
		if !slices.ContainsFunc(objections, func(told error) bool { return told.Error() == err.Error() }) {
			objections = append(objections, err)
		}
	}
	return objections
}

// sameKind objects to a patch that makes the object one of another kind. A
// strategic patch cannot: it is of fields alone.
func (c *call) sameKind(p patch.Patch, r *patch.Result) error {
	if p.Type == types.StrategicMergePatchType {
		return nil
	}
	apiVersion, kind := c.ep.gvk.ToAPIVersionAndKind()
	said, version := scan.Find(r.JSON, "kind"), scan.Find(r.JSON, "apiVersion")
	if len(said) == len(kind)+2 && string(said[1:len(said)-1]) == kind && len(version) == len(apiVersion)+2 && string(version[1:len(version)-1]) == apiVersion {
		return nil
	}
	got, err := codec.KindOf(r.JSON)
	switch {
	case err != nil:
		return invalidPatch(r, err)
	case got.Version == "":
		return checkName(&metav1.ObjectMeta{}, c.info.name) // nobody can tell what it is
	case got.Kind == "":
		got.Kind = kind
	}
	if c.ep.versionOf(got) != nil {
		return nil
	}
	return invalidPatch(r, codec.ConversionError(got, c.ep.gvk, r.JSON))
}

// objectToPatch does what the directive says about the strict rules' objections.
func (c *call) objectToPatch(r *patch.Result, objections []error, directive string) error {
	switch {
	case len(objections) == 0:
	case directive == metav1.FieldValidationStrict:
		return invalidPatch(r, runtime.NewStrictDecodingError(objections))
	default:
		c.warn(codec.StrictWarnings(objections)...)
	}
	return nil
}

func invalidPatch(r *patch.Result, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), r.Shown(), err.Error())})
}
