package check

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/plain"
)

// Labels requires well-formed labels.
func (f *Errors) Labels(p *Path, labels map[string]string) {
	if !plain.Labels(labels) {
		f.Add(metavalidation.ValidateLabels(labels, p.Field())...)
	}
}

// LabelKey requires a well-formed label key.
func (f *Errors) LabelKey(p *Path, key string) {
	if !plain.Qualified(key) {
		f.Add(metavalidation.ValidateLabelName(key, p.Field())...)
	}
}

// Selector requires a well-formed label selector or nil.
func (f *Errors) Selector(p *Path, s *metav1.LabelSelector) {
	if s != nil {
		f.Add(metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, p.Field())...)
	}
}

// Port requires a port number.
func (f *Errors) Port(p *Path, n int32) { f.Each(p, n, validation.IsValidPortNum(int(n))) }

// PortOrName requires a port number or name.
func (f *Errors) PortOrName(p *Path, v intstr.IntOrString) {
	if v.Type == intstr.Int {
		f.Each(p, v.IntValue(), validation.IsValidPortNum(v.IntValue()))
		return
	}
	if !plain.PortName(v.StrVal) {
		f.Each(p, v.StrVal, validation.IsValidPortName(v.StrVal))
	}
}

// IP requires an address. Malformed ones that the old object has are tolerated.
func (f *Errors) IP(p *Path, ip string, old ...string) {
	f.Add(validation.IsValidIPForLegacyField(p.Field(), ip, true, old)...)
}

// CIDR requires an address block. Malformed ones that the old object has are tolerated.
func (f *Errors) CIDR(p *Path, cidr string, old ...string) {
	f.Add(validation.IsValidCIDRForLegacyField(p.Field(), cidr, true, old)...)
}

// QuantityNotNegative requires a quantity of zero or more.
func (f *Errors) QuantityNotNegative(p *Path, q resource.Quantity) {
	if q.Sign() < 0 {
		f.Invalid(p, q.String(), "must be greater than or equal to 0")
	}
}

// CountOrPercent requires a count of zero or more, or a percentage.
func (f *Errors) CountOrPercent(p *Path, v intstr.IntOrString) {
	if v.Type == intstr.Int {
		f.NotNegative(p, int64(v.IntValue()))
		return
	}
	f.Each(p, v, validation.IsValidPercent(v.StrVal))
}

// NotOver100 requires a percentage, if it is one, of at most 100.
func (f *Errors) NotOver100(p *Path, v intstr.IntOrString) {
	if n, ok := Percent(v); ok && n > 100 {
		f.Invalid(p, v, "must not be greater than 100%")
	}
}

// Percent returns the number before the percent sign, if there is one.
func Percent(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n := 0
	for _, c := range strings.TrimSuffix(v.StrVal, "%") {
		n = n*10 + int(c-'0')
	}
	return n, true
}

// NoBacksteps requires a path without "..".
func (f *Errors) NoBacksteps(p *Path, name string) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			f.Invalid(p, name, "must not contain '..'")
			return
		}
	}
}

// Descending requires a relative path without "..".
func (f *Errors) Descending(p *Path, name string) {
	if path.IsAbs(name) {
		f.Invalid(p, name, "must be a relative path")
	}
	f.NoBacksteps(p, name)
}

// FilePath requires a path for a file in a volume: relative, without "..", and not in conflict with names that
// kubelets reserve.
func (f *Errors) FilePath(p *Path, name string) {
	f.Descending(p, name)
	if strings.HasPrefix(name, "..") && !strings.HasPrefix(name, "../") {
		f.Invalid(p, name, "must not start with '..'")
	}
}

// FileMode requires permission bits or nil.
func (f *Errors) FileMode(p *Path, mode *int32) {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		f.Invalid(p, *mode, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}
