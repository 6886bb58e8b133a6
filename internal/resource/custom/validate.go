package custom

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"fairlead.dev/internal/resource"
)

// Validate implements resource.Custom.
func (v *version) Validate(ctx context.Context, o resource.Validation) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("the server could not properly serve the CR schema: %w", err))}
	}
	ctx = warning.WithWarningRecorder(ctx, recorder(o.Warn))
	both := sync.OnceValue(func() *common.CorrelatedObject {
		return common.NewCorrelatedObject(o.Object.Object, o.Old.Object, &model.Structural{Structural: r.tree})
	})
	errs := v.validateGVK(o.Object)
	if errs == nil {
		errs = v.values(r, o, both)
	}
	if !o.Status && (r.plan == nil || r.plan.embeds) {
		errs = append(errs, objectmeta.Validate(ctx, nil, o.Object.Object, r.tree, false)...)
	}
	errs = append(errs, r.lists(o.Object, o.Old)...)
	if r.cel == nil {
		return errs
	}
	var options []cel.Option
	if o.Old != nil {
		options = append(options, cel.WithRatcheting(both()))
	}
	return append(errs, r.validate(ctx, append(o.Errors[:len(o.Errors):len(o.Errors)], errs...), o, options...)...)
}

// recorder receives the warnings of rules.
type recorder func(string)

// AddWarning implements warning.Recorder.
func (r recorder) AddWarning(_, text string) {
	if r != nil {
		r(text)
	}
}

// validateGVK returns errors if an object has another kind or version. Its values are then not validated.
func (v *version) validateGVK(obj *unstructured.Unstructured) (errs field.ErrorList) {
	d := v.kind.Definition
	if kind := d.Status.AcceptedNames.Kind; obj.GetKind() != kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), obj.GetKind(), "must be "+kind))
	}
	if gv := d.Spec.Group + "/" + v.Name; obj.GetAPIVersion() != gv {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), obj.GetAPIVersion(), "must be "+gv))
	}
	return errs
}

// values returns the errors by the schema's types and bounds, and those in the fields of the scale subresource.
func (v *version) values(r *rules, o resource.Validation, both func() *common.CorrelatedObject) (errs field.ErrorList) {
	switch {
	case o.Status:
		if status, ok := o.Object.Object["status"]; ok && r.status != nil && r.status.check.check(status, true) != good {
			var options []validation.ValidationOption
			if r.tree != nil {
				options = append(options, validation.WithRatcheting(both().Key("status")))
			}
			errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, o.Old.Object["status"], r.status, options...)
		}
		return append(errs, v.validateScale(o.Object, false)...)
	case r.schema.check.check(o.Object.Object, o.Old != nil) == good:
	case o.Old == nil:
		errs = validation.ValidateCustomResource(nil, o.Object.Object, r.schema)
	default:
		errs = validation.ValidateCustomResourceUpdate(nil, o.Object.Object, o.Old.Object, r.schema, validation.WithRatcheting(both()))
	}
	return append(errs, v.validateScale(o.Object, true)...)
}

// lists returns the errors in lists that are sets or maps, unless the old object had some too.
func (r *rules) lists(obj, old *unstructured.Unstructured) field.ErrorList {
	if r.plan != nil && !r.plan.lists {
		return nil
	}
	errs := listtype.ValidateListSetsAndMaps(nil, r.tree, obj.Object)
	if len(errs) > 0 && old != nil && len(listtype.ValidateListSetsAndMaps(nil, r.tree, old.Object)) > 0 {
		return nil
	}
	return errs
}

// validate returns the errors of the CEL rules. Certain errors found before make the object unfit for rules.
func (r *rules) validate(ctx context.Context, found field.ErrorList, o resource.Validation, options ...cel.Option) field.ErrorList {
	for _, e := range found {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
		}
	}
	var was any
	if o.Old != nil {
		was = o.Old.Object
	}
	errs, _ := r.cel.Validate(ctx, nil, r.tree, o.Object.Object, was, celconfig.RuntimeCELCostBudget, options...)
	return errs
}
