package custom

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

func (v *version) validate(obj *unstructured.Unstructured) field.ErrorList {
	r, errs := v.ready(obj)
	if r == nil {
		return errs
	}
	if errs == nil {
		errs = validation.ValidateCustomResource(nil, obj.Object, r.schema)
		errs = append(errs, v.validateScale(obj, true)...)
	}
	errs = append(errs, objectmeta.Validate(context.Background(), nil, obj.Object, r.tree, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.tree, obj.Object)...)
	return r.judge(errs, obj, nil)
}

func (v *version) validateUpdate(obj, old *unstructured.Unstructured) field.ErrorList {
	r, errs := v.ready(obj)
	if r == nil {
		return errs
	}
	both := common.NewCorrelatedObject(obj.Object, old.Object, &model.Structural{Structural: r.tree})
	if errs == nil {
		errs = validation.ValidateCustomResourceUpdate(nil, obj.Object, old.Object, r.schema, validation.WithRatcheting(both))
		errs = append(errs, v.validateScale(obj, true)...)
	}
	errs = append(errs, objectmeta.Validate(context.Background(), nil, obj.Object, r.tree, false)...)
	errs = append(errs, r.newListFaults(obj, old)...)
	return r.judge(errs, obj, old, cel.WithRatcheting(both))
}

func (v *version) validateStatus(obj, old *unstructured.Unstructured) field.ErrorList {
	r, errs := v.ready(obj)
	if r == nil {
		return errs
	}
	both := common.NewCorrelatedObject(obj.Object, old.Object, &model.Structural{Structural: r.tree})
	var options []validation.ValidationOption
	if r.tree != nil {
		options = append(options, validation.WithRatcheting(both.Key("status")))
	}
	if errs == nil {
		if status, ok := obj.Object["status"]; ok {
			errs = validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old.Object["status"], r.status, options...)
		}
		errs = append(errs, v.validateScale(obj, false)...)
	}
	errs = append(errs, r.newListFaults(obj, old)...)
	return r.judge(errs, obj, old, cel.WithRatcheting(both))
}

// ready gives the rules for an object; none if they are broken. Errors with them
// say that it calls itself something else: then the schema's values are not
// looked at.
func (v *version) ready(obj *unstructured.Unstructured) (*rules, field.ErrorList) {
	r, err := v.rules()
	if err != nil {
		return nil, field.ErrorList{field.InternalError(nil, fmt.Errorf("the server could not properly serve the CR schema: %w", err))}
	}
	var errs field.ErrorList
	d := v.kind.Definition
	if kind := d.Status.AcceptedNames.Kind; obj.GetKind() != kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), obj.GetKind(), "must be "+kind))
	}
	if gv := d.Spec.Group + "/" + v.Name; obj.GetAPIVersion() != gv {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), obj.GetAPIVersion(), "must be "+gv))
	}
	return r, errs
}

// newListFaults are those of lists that are sets or maps, unless the old object
// had some too.
func (r *rules) newListFaults(obj, old *unstructured.Unstructured) field.ErrorList {
	errs := listtype.ValidateListSetsAndMaps(nil, r.tree, obj.Object)
	if len(errs) > 0 && len(listtype.ValidateListSetsAndMaps(nil, r.tree, old.Object)) > 0 {
		return nil
	}
	return errs
}

// judge adds what the CEL rules say to the faults, unless those make the object
// one that rules cannot be run on.
func (r *rules) judge(errs field.ErrorList, obj, old *unstructured.Unstructured, options ...cel.Option) field.ErrorList {
	if r.cel == nil {
		return errs
	}
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	var was any
	if old != nil {
		was = old.Object
	}
	more, _ := r.cel.Validate(context.Background(), nil, r.tree, obj.Object, was, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, more...)
}
