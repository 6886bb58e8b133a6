package server

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
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

// patchVerb changes an object, or the part of it that a subresource shows, by a patch.
func patchVerb(c *call) error {
	defer c.within(updateTimeout)()
	opts, p, err := c.readPatch()
	if err != nil {
		return err
	}
	if isApply(p.Type) {
		return c.apply(p, opts)
	}
	w, _, err := c.modify(c.info.Name, change{
		next: func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
			return c.applyLight(p, now, old, opts.FieldValidation)
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
	check := c.ep.CheckPatchType
	if c.info.Subresource == "scale" { // which has a Go type
		check = endpoint.CheckTypedPatch
	}
	if err := check(kind, c.s.cfg.CBOR); err != nil {
		return nil, p, err
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
		return nil, p, apistatus.InvalidOptions("PatchOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	return opts, p, nil
}

// currentJSON returns the text that a patch is applied to: the object in the version of the
// path.
func (c *call) currentJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if c.ep.Raw && c.ep.Current(now) {
		return now.AppendJSON(nil), nil
	}
	obj, err := c.ep.Convert(old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	return serializer.Marshal(obj, serializer.JSON)
}

// applyLight patches the text without managed fields, which few patches touch. If that fails,
// the patch is applied again to the whole text, from which the error is made.
func (c *call) applyLight(p patch.Patch, now *watchcache.Object, old resource.Object, directive string) (resource.Object, error) {
	if !bytes.Contains(p.Body, []byte("managedFields")) {
		rest, err := c.lightJSON(now, old)
		if err != nil {
			return nil, err
		}
		if obj, err := c.applyPatch(p, rest, old, directive); err == nil {
			return obj, nil
		}
	}
	current, err := c.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	// The object's members are to stand in the order in which they are encoded.
	if obj, err := c.ep.Convert(old.DeepCopyObject()); err == nil {
		if text, err := serializer.Marshal(obj, serializer.JSON); err == nil {
			current = text
		}
	}
	return c.applyPatch(p, current, old, directive)
}

// lightJSON is currentJSON without managed fields.
func (c *call) lightJSON(now *watchcache.Object, old resource.Object) ([]byte, error) {
	if c.ep.Raw && c.ep.Current(now) {
		return managed.Versioned(c.textOf(now), now.Revision().String()), nil
	}
	current, err := c.currentJSON(now, old)
	if err != nil {
		return nil, err
	}
	rest, _ := managed.Cut(current)
	return rest, nil
}

// applyPatch patches current, the text of old, and decodes the result.
func (c *call) applyPatch(p patch.Patch, current []byte, old resource.Object, directive string) (resource.Object, error) {
	var ref runtime.Object = old
	if !c.ep.Raw {
		ref = c.ep.ServedVersion.New()
	}
	r, err := p.Apply(c.ctx, current, ref)
	if err != nil {
		return nil, err
	}
	obj, warnings, err := c.ep.DecodePatched(&endpoint.PatchedText{
		Patch: p, Result: r, Old: old, Before: current, Unknown: c.lastRead.foreign, Name: c.info.Name, Directive: directive,
	})
	c.warn(warnings...)
	return obj, err
}
