package dynamicresources

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	amount "k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/resource/check"
)

// maxValues bounds the amounts that a policy names.
const maxValues = 10

// capacity requires a policy of requests only where several can have a part.
func capacity(f *check.Errors, p *check.Path, c resourcev1.DeviceCapacity, multiple bool) {
	policy := c.RequestPolicy
	if policy == nil {
		return
	}
	p = p.Child("requestPolicy")
	switch {
	case !multiple:
		f.Forbidden(p, "allowMultipleAllocations must be true")
	case len(policy.ValidValues) > 0 && policy.ValidRange != nil:
		f.Forbidden(p, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case len(policy.ValidValues) > 0 && policy.Default == nil:
		f.Required(p.Child("default"), "required when validValues is defined")
	case len(policy.ValidValues) > 0:
		validValues(f, p.Child("validValues"), policy.ValidValues, *policy.Default, c.Value)
	case policy.ValidRange != nil && policy.Default == nil:
		f.Required(p.Child("default"), "required when validRange is defined")
	case policy.ValidRange != nil:
		validRange(f, p.Child("validRange"), policy.ValidRange, *policy.Default, c.Value)
	}
}

func validValues(f *check.Errors, p *check.Path, values []amount.Quantity, otherwise, limit amount.Quantity) {
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			f.Invalid(p.Index(i), values[i].String(), "values must be sorted in ascending order")
		}
	}
	found := false
	validateKeyed(f, p, values, maxValues, func(q *amount.Quantity) string { return fmt.Sprint(q.Value()) },
		func(p *check.Path, q *amount.Quantity) {
			if q.Cmp(limit) > 0 {
				f.Invalid(p, q.String(), "option is larger than capacity value: "+limit.String())
			}
			found = found || q.Cmp(otherwise) == 0
		})
	if !found {
		f.Invalid(p, otherwise.String(), "default value is not valid according to the requestPolicy")
	}
}

func validRange(f *check.Errors, p *check.Path, r *resourcev1.CapacityRequestPolicyRange, otherwise, limit amount.Quantity) {
	if r.Min == nil {
		f.Required(p.Child("min"), "required when validRange is defined")
		return
	}
	if r.Min.Cmp(limit) > 0 {
		f.Invalid(p.Child("min"), r.Min.String(), "min is larger than capacity value: "+limit.String())
	}
	if otherwise.Cmp(*r.Min) < 0 {
		f.Invalid(p.Child("default"), otherwise.String(), "default is less than min: "+r.Min.String())
	}
	if r.Max != nil {
		at := p.Child("max")
		if r.Min.Cmp(*r.Max) > 0 {
			f.Invalid(at, r.Min.String(), "min is larger than max: "+r.Max.String())
		}
		if r.Max.Cmp(limit) > 0 {
			f.Invalid(at, r.Max.String(), "max is larger than capacity value: "+limit.String())
		}
		if otherwise.Cmp(*r.Max) > 0 {
			f.Invalid(at, otherwise.String(), "default is more than max: "+r.Max.String())
		}
	}
	if r.Step == nil {
		return
	}
	at, first := p.Child("step"), r.Min.DeepCopy()
	if first.Add(*r.Step); first.Cmp(limit) > 0 {
		f.Invalid(at, r.Step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), limit.String()))
	}
	whole := func(q *amount.Quantity) {
		if step := r.Step.Value(); step == 0 || (q.Value()-r.Min.Value())%step != 0 {
			f.Invalid(at, q.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String()))
		}
	}
	whole(&otherwise)
	if r.Max != nil {
		whole(r.Max)
	}
}
