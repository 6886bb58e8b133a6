package write

import (
	"bytes"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// Patch changes an object, or the part of it that a subresource shows, by a patch.
func (w *Writer) Patch(in *call.Call) error {
	patched := &patching{Operation: Operation{Call: in, w: w}} // one allocation for both
	c := &patched.Operation
	defer c.Within(call.UpdateTimeout)()
	opts, p, err := c.readPatch(c.Endpoint.CheckPatchType)
	if err != nil {
		return err
	}
	if isApply(p.Type) {
		return c.apply(p, opts)
	}
	patched.patch, patched.directive = p, opts.FieldValidation
	written, _, err := c.Modify(c.Info.Name, Change{
		Next:    patched.light,
		manager: c.manager(opts.FieldManager),
		opts:    &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
	})
	if err != nil {
		return err
	}
	return c.answer(written, http.StatusOK)
}

// readPatch reads the request's options and body. check refuses media types of patches that the
// kind does not take.
func (c *Operation) readPatch(check func(mediaType string, cbor bool) error) (*metav1.PatchOptions, patch.Patch, error) {
	var p patch.Patch
	kind, _, _ := strings.Cut(c.HTTP.Header.Get("Content-Type"), ";")
	if err := check(kind, c.w.CBOR); err != nil {
		return nil, p, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, p, err
	}
	opts := &metav1.PatchOptions{}
	if err := c.Options(opts); err != nil {
		return nil, p, err
	}
	p = patch.Patch{Type: types.PatchType(kind), Body: body, Strict: opts.FieldValidation != metav1.FieldValidationIgnore}
	if errs := validation.ValidatePatchOptions(opts, p.Type); len(errs) > 0 {
		return nil, p, apistatus.InvalidOptions("PatchOptions", errs)
	}
	if !isApply(p.Type) {
		if err := p.Check(); err != nil {
			return nil, p, err
		}
	}
	c.DryRun = len(opts.DryRun) > 0
	c.Audit.Patch(p.Body)
	return opts, p, nil
}

// patching applies one patch to the states of an object.
type patching struct {
	Operation
	patch patch.Patch
	// directive is the fieldValidation of the options.
	directive string
}

// light patches the text without managed fields, which few patches touch. If that fails, the
// patch is applied again to the whole text, from which the error is made.
func (p *patching) light(now *watchcache.Object, old resource.Object) (resource.Object, error) {
	if !bytes.Contains(p.patch.Body, []byte("managedFields")) {
		rest, err := p.lightJSON(now, old)
		if err != nil {
			return nil, err
		}
		if obj, err := p.apply(rest, old); err == nil {
			return obj, nil
		}
	}
	current, err := p.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	// The object's members are to stand in the order in which they are encoded.
	if obj, err := p.Endpoint.Convert(old.DeepCopyObject()); err == nil {
		if text, err := serializer.Marshal(obj, serializer.JSON); err == nil {
			current = text
		}
	}
	return p.apply(current, old)
}

// currentJSON returns the text that a patch is applied to: the object in the version of the
// path.
func (p *patching) currentJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if p.Endpoint.Raw && p.Endpoint.Current(now) {
		return now.AppendJSON(nil), nil
	}
	obj, err := p.Endpoint.Convert(old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	return serializer.Marshal(obj, serializer.JSON)
}

// lightJSON is currentJSON without managed fields.
func (p *patching) lightJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if p.Endpoint.Raw && p.Endpoint.Current(now) {
		return managed.Versioned(p.textOf(now), now.Revision().String()), nil
	}
	current, err := p.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	rest, _ := managed.Cut(current)
	return rest, nil
}

// apply patches current, the text of old, and decodes the result.
func (p *patching) apply(current []byte, old resource.Object) (resource.Object, error) {
	var ref runtime.Object = old
	if !p.Endpoint.Raw {
		ref = p.Endpoint.ServedVersion.New()
	}
	r, err := p.patch.Apply(p.Context, current, ref)
	if err != nil {
		return nil, err
	}
	obj, warnings, err := p.Endpoint.DecodePatched(&endpoint.PatchedText{
		Patch: p.patch, Result: r, Old: old, Before: current, Unknown: p.lastRead.unknown, Name: p.Info.Name, Directive: p.directive,
	})
	p.Warn(warnings...)
	return obj, err
}
