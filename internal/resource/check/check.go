// Package check has the vocabulary of validation: a growing list of faults, and the checks that many kinds need.
// Messages are worded as in Kubernetes.
package check

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/plain"
)

// Errors is the list of errors found so far. The zero value is empty. A *Errors is passed to the functions that
// validate parts of an object.
type Errors struct{ list field.ErrorList }

// List returns the errors, or nil.
func (f *Errors) List() field.ErrorList { return f.list }

// Len returns the number of errors.
func (f *Errors) Len() int { return len(f.list) }

// Add adds errors of another function.
func (f *Errors) Add(errs ...*field.Error) { f.list = append(f.list, errs...) }

// Required reports a missing value.
func (f *Errors) Required(p *Path, why string) { f.Add(field.Required(p.Field(), why)) }

// Invalid reports an invalid value.
func (f *Errors) Invalid(p *Path, value any, why string) { f.Add(field.Invalid(p.Field(), value, why)) }

// Forbidden reports a value that is not allowed.
func (f *Errors) Forbidden(p *Path, why string) { f.Add(field.Forbidden(p.Field(), why)) }

// Duplicate reports the second of two equal values.
func (f *Errors) Duplicate(p *Path, value any) { f.Add(field.Duplicate(p.Field(), value)) }

// NotFound reports a reference to a missing object.
func (f *Errors) NotFound(p *Path, value any) { f.Add(field.NotFound(p.Field(), value)) }

// Each reports a value once for every message about it.
func (f *Errors) Each(p *Path, value any, messages []string) {
	for _, m := range messages {
		f.Invalid(p, value, m)
	}
}

// Label requires a DNS label.
func (f *Errors) Label(p *Path, s string) {
	if !plain.Label(s) {
		f.Each(p, s, validation.IsDNS1123Label(s))
	}
}

// Subdomain requires a DNS subdomain, the form of most names.
func (f *Errors) Subdomain(p *Path, s string) {
	if !plain.Subdomain(s) {
		f.Each(p, s, validation.IsDNS1123Subdomain(s))
	}
}

// Qualified requires a name with an optional DNS prefix: "example.com/name".
func (f *Errors) Qualified(p *Path, s string) {
	if !plain.Qualified(s) {
		f.Each(p, s, validation.IsQualifiedName(s))
	}
}

// NotNegative requires zero or more.
func (f *Errors) NotNegative(p *Path, n int64) {
	if n < 0 {
		f.Add(apivalidation.ValidateNonnegativeField(n, p.Field())...)
	}
}

// Positive requires more than zero.
func (f *Errors) Positive(p *Path, n int64) {
	if n <= 0 {
		f.Invalid(p, n, "must be greater than zero")
	}
}

// Within requires lo <= n <= hi.
func (f *Errors) Within(p *Path, n int64, lo, hi int) {
	if n < int64(lo) || n > int64(hi) {
		f.Invalid(p, n, validation.InclusiveRangeError(lo, hi))
	}
}

// Same requires an unchanged value.
func (f *Errors) Same(p *Path, now, old any) {
	if !apiequality.Semantic.DeepEqual(old, now) {
		f.Invalid(p, now, apivalidation.FieldImmutableErrorMsg)
	}
}

// Immutable requires an unchanged value by a declarative rule of Kubernetes, whose error has no value.
func (f *Errors) Immutable(p *Path, now, old any) {
	if !apiequality.Semantic.DeepEqual(old, now) {
		f.Invalid(p, nil, apivalidation.FieldImmutableErrorMsg)
	}
}

// OneOf requires one of the values. An empty value is reported as missing.
func OneOf[T ~string](f *Errors, p *Path, value T, valid ...T) {
	if value == "" {
		f.Required(p, "")
		return
	}
	Known(f, p, value, valid...)
}

// Known requires one of the values. An empty value is reported as unsupported.
func Known[T ~string](f *Errors, p *Path, value T, valid ...T) {
	for _, v := range valid {
		if v == value {
			return
		}
	}
	f.Add(field.NotSupported(p.Field(), value, valid))
}
