package gates

import (
	"slices"

	"fairlead.dev/internal/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// takeOldAddresses lets addresses and blocks of addresses have forms that are ambiguous, such as 010.1.2.3.
func takeOldAddresses(r *resource.Resource) {
	s := &r.Strategy
	if create := s.Validate; create != nil {
		s.Validate = func(obj runtime.Object) field.ErrorList { return withoutStrict(create(obj)) }
	}
	for _, f := range []*func(obj, old runtime.Object) field.ErrorList{&s.ValidateUpdate, &s.ValidateStatusUpdate} {
		if update := *f; update != nil {
			*f = func(obj, old runtime.Object) field.ErrorList { return withoutStrict(update(obj, old)) }
		}
	}
}

// withoutStrict leaves out the errors that only strict validation of addresses finds.
func withoutStrict(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		text, ok := e.BadValue.(string)
		if !ok || e.Type != field.ErrorTypeInvalid {
			return false
		}
		for _, valid := range []func(*field.Path, string, bool, []string) field.ErrorList{
			validation.IsValidIPForLegacyField, validation.IsValidCIDRForLegacyField,
		} {
			same := func(strict *field.Error) bool { return strict.Detail == e.Detail }
			if len(valid(nil, text, false, nil)) == 0 && slices.ContainsFunc(valid(nil, text, true, nil), same) {
				return true
			}
		}
		return false
	})
}
