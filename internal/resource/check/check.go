// Package check has the small words of validation: a list of faults that grows,
// and the tests that every kind needs. What the tests say is what clients of
// Kubernetes read, so the wordings are the ones they know.
package check

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/plain"
)

// Faults is what has been found wrong so far. The zero value is empty. A
// *Faults is handed down to the functions that look at parts of an object.
type Faults struct{ list field.ErrorList }

// List is what was found, nil if nothing.
func (f *Faults) List() field.ErrorList { return f.list }

// Len is how much was found.
func (f *Faults) Len() int { return len(f.list) }

// Add adds faults that another function found.
func (f *Faults) Add(errs ...*field.Error) { f.list = append(f.list, errs...) }

// Required reports that something is missing.
func (f *Faults) Required(p *Path, why string) { f.Add(field.Required(p.Field(), why)) }

// Invalid reports a value that is not right.
func (f *Faults) Invalid(p *Path, value any, why string) { f.Add(field.Invalid(p.Field(), value, why)) }

// Forbidden reports something that may not be there.
func (f *Faults) Forbidden(p *Path, why string) { f.Add(field.Forbidden(p.Field(), why)) }

// Duplicate reports the second of two that must differ.
func (f *Faults) Duplicate(p *Path, value any) { f.Add(field.Duplicate(p.Field(), value)) }

// NotFound reports a reference to nothing.
func (f *Faults) NotFound(p *Path, value any) { f.Add(field.NotFound(p.Field(), value)) }

// Each reports a value once for every message about it.
func (f *Faults) Each(p *Path, value any, messages []string) {
	for _, m := range messages {
		f.Invalid(p, value, m)
	}
}

// Label wants a DNS label.
func (f *Faults) Label(p *Path, s string) {
	if !plain.Label(s) {
		f.Each(p, s, validation.IsDNS1123Label(s))
	}
}

// Subdomain wants a DNS subdomain, the form most names have.
func (f *Faults) Subdomain(p *Path, s string) {
	if !plain.Subdomain(s) {
		f.Each(p, s, validation.IsDNS1123Subdomain(s))
	}
}

// Qualified wants a name with an optional DNS prefix: "example.com/name".
func (f *Faults) Qualified(p *Path, s string) {
	if !plain.Qualified(s) {
		f.Each(p, s, validation.IsQualifiedName(s))
	}
}

// NotNegative wants zero or more.
func (f *Faults) NotNegative(p *Path, n int64) {
	if n < 0 {
		f.Add(apivalidation.ValidateNonnegativeField(n, p.Field())...)
	}
}

// Positive wants more than zero.
func (f *Faults) Positive(p *Path, n int64) {
	if n <= 0 {
		f.Invalid(p, n, "must be greater than zero")
	}
}

// Within wants lo <= n <= hi.
func (f *Faults) Within(p *Path, n int64, lo, hi int) {
	if n < int64(lo) || n > int64(hi) {
		f.Invalid(p, n, validation.InclusiveRangeError(lo, hi))
	}
}

// Same wants a value that has not changed.
func (f *Faults) Same(p *Path, now, old any) {
	if !apiequality.Semantic.DeepEqual(old, now) {
		f.Invalid(p, now, apivalidation.FieldImmutableErrorMsg)
	}
}

// OneOf wants one of the values. An empty one is missing, not wrong.
func OneOf[T ~string](f *Faults, p *Path, value T, valid ...T) {
	if value == "" {
		f.Required(p, "")
		return
	}
	Known(f, p, value, valid...)
}

// Known wants one of the values, and says so even of an empty one.
func Known[T ~string](f *Faults, p *Path, value T, valid ...T) {
	for _, v := range valid {
		if v == value {
			return
		}
	}
	f.Add(field.NotSupported(p.Field(), value, valid))
}
