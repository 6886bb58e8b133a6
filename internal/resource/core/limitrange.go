package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	table "fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var limitRangeTable = table.TableOf(func(l *corev1.LimitRange) []any {
	return []any{l.Name, table.CreatedAt(l)}
}, table.NameColumn, table.CreatedColumn)

var limitRangeStrategy = table.Rules[*corev1.LimitRange]{
	Default: func(l *corev1.LimitRange) {
		for i := range l.Spec.Limits {
			defaultLimit(&l.Spec.Limits[i])
		}
	},
	PrepareForCreate: func(l *corev1.LimitRange) {
		if l.Name == "" {
			l.Name = string(uuid.NewUUID())
		}
		table.NilIfEmpty(&l.Spec.Limits)
	},
	PrepareForUpdate:    func(l, _ *corev1.LimitRange) { table.NilIfEmpty(&l.Spec.Limits) },
	Validate:            validateLimitRange,
	ValidateUpdate:      func(l, _ *corev1.LimitRange) field.ErrorList { return validateLimitRange(l) },
	AllowCreateOnUpdate: true,
}.Strategy()

// defaultLimit derives the defaults of containers: max as limit, and that limit, or else min, as request.
func defaultLimit(l *corev1.LimitRangeItem) {
	if l.Type == corev1.LimitTypeContainer {
		if l.Default == nil {
			l.Default = corev1.ResourceList{}
		}
		if l.DefaultRequest == nil {
			l.DefaultRequest = corev1.ResourceList{}
		}
		setMissing(l.Default, l.Max)
		setMissing(l.DefaultRequest, l.Default)
		setMissing(l.DefaultRequest, l.Min)
	}
	for _, list := range []corev1.ResourceList{l.Max, l.Min, l.Default, l.DefaultRequest, l.MaxLimitRequestRatio} {
		podspec.RoundUp(list)
	}
}

func setMissing(to, from corev1.ResourceList) {
	for name, amount := range from {
		if _, set := to[name]; !set {
			to[name] = amount.DeepCopy()
		}
	}
}

func validateLimitRange(l *corev1.LimitRange) field.ErrorList {
	var f check.Errors
	seen := map[corev1.LimitType]bool{}
	for i := range l.Spec.Limits {
		limit, p := &l.Spec.Limits[i], check.At("spec", "limits").Index(i)
		n := f.Len()
		f.Qualified(p.Child("type"), string(limit.Type))
		standard := []corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}
		if f.Len() == n && !strings.Contains(string(limit.Type), "/") && !slices.Contains(standard, limit.Type) {
			f.Invalid(p.Child("type"), limit.Type, "must be a standard limit type or fully qualified")
		}
		if seen[limit.Type] {
			f.Duplicate(p.Child("type"), limit.Type)
		}
		seen[limit.Type] = true
		validateLimit(&f, p, limit)
	}
	return f.List()
}

func validateLimit(f *check.Errors, p *check.Path, l *corev1.LimitRangeItem) {
	all := corev1.ResourceList{}
	names := func(field string, list corev1.ResourceList) {
		for _, name := range check.Names(list) {
			at := p.Child(field).Key(string(name))
			if l.Type == corev1.LimitTypePod || l.Type == corev1.LimitTypeContainer {
				f.ContainerResourceName(at, name)
			} else {
				f.ResourceName(at, name)
			}
			all[name] = list[name]
		}
	}
	names("max", l.Max)
	names("min", l.Min)
	if l.Type == corev1.LimitTypePod {
		if len(l.Default) > 0 {
			f.Forbidden(p.Child("default"), "may not be specified when `type` is 'Pod'")
		}
		if len(l.DefaultRequest) > 0 {
			f.Forbidden(p.Child("defaultRequest"), "may not be specified when `type` is 'Pod'")
		}
	} else {
		names("default", l.Default)
		names("defaultRequest", l.DefaultRequest)
	}
	if l.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := l.Min[corev1.ResourceStorage]
		_, most := l.Max[corev1.ResourceStorage]
		if !least && !most {
			f.Required(p.Child("limits"), "either minimum or maximum storage value is required, but neither was provided")
		}
	}
	names("maxLimitRequestRatio", l.MaxLimitRequestRatio)
	for _, name := range check.Names(all) {
		limitOrder(f, p, l, name)
	}
}

// limitOrder requires min <= default request <= default <= max for a resource.
func limitOrder(f *check.Errors, p *check.Path, l *corev1.LimitRangeItem, name corev1.ResourceName) {
	order := func(at string, value resource.Quantity, a corev1.ResourceList, aName string, b corev1.ResourceList, bName string) {
		low, ok := a[name]
		high, also := b[name]
		if ok && also && low.Cmp(high) > 0 {
			f.Invalid(p.Child(at).Key(string(name)), value, fmt.Sprintf("%s value %s is greater than %s value %s", aName, low.String(), bName, high.String()))
		}
	}
	order("min", l.Min[name], l.Min, "min", l.Max, "max")
	order("defaultRequest", l.DefaultRequest[name], l.Min, "min", l.DefaultRequest, "default request")
	order("defaultRequest", l.DefaultRequest[name], l.DefaultRequest, "default request", l.Max, "max")
	order("defaultRequest", l.DefaultRequest[name], l.DefaultRequest, "default request", l.Default, "default limit")
	order("default", l.Min[name], l.Min, "min", l.Default, "default")
	order("default", l.Max[name], l.Default, "default", l.Max, "max")
	limit, limited := l.Default[name]
	if request, ok := l.DefaultRequest[name]; ok && limited && !check.Overcommits(name) && limit.Cmp(request) != 0 {
		f.Invalid(p.Child("defaultRequest").Key(string(name)), request, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit.String(), request.String(), name))
	}
	ratio, ok := l.MaxLimitRequestRatio[name]
	if !ok {
		return
	}
	at := p.Child("maxLimitRequestRatio").Key(string(name))
	if ratio.Cmp(resource.MustParse("1")) < 0 {
		f.Invalid(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String()))
	}
	least, hasLeast := l.Min[name]
	most, hasMost := l.Max[name]
	if hasLeast && hasMost && least.Sign() > 0 {
		if widest := most.AsApproximateFloat64() / least.AsApproximateFloat64(); ratio.AsApproximateFloat64() > widest {
			f.Invalid(at, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), widest))
		}
	}
}
