package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var quotaTable = resource.TableOf(func(q *corev1.ResourceQuota) []any {
	var requests, limits []string
	for _, name := range check.Names(q.Status.Hard) {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		cell := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, cell)
		} else {
			requests = append(requests, cell)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), resource.AgeOf(q)}
},
	resource.NameColumn,
	resource.Text("Request", "What is in use of what may be asked for."),
	resource.Text("Limit", "What is in use of what limits may add up to."),
	resource.AgeColumn,
)

func quotaStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(q *corev1.ResourceQuota) (*corev1.ResourceQuotaSpec, *corev1.ResourceQuotaStatus) {
		return &q.Spec, &q.Status
	})
	r.Default = func(q *corev1.ResourceQuota) {
		podspec.RoundUp(q.Spec.Hard)
		podspec.RoundUp(q.Status.Hard)
		podspec.RoundUp(q.Status.Used)
	}
	r.Validate = func(q *corev1.ResourceQuota) field.ErrorList {
		var f check.Errors
		f.Add(validateQuota(q)...)
		quotaStatus(&f, q)
		return f.List()
	}
	r.ValidateUpdate = func(q, old *corev1.ResourceQuota) field.ErrorList {
		var f check.Errors
		f.Add(validateQuota(q)...)
		if !maps.Equal(scopeSet(q.Spec.Scopes), scopeSet(old.Spec.Scopes)) {
			f.Invalid(check.At("spec", "scopes"), q.Spec.Scopes, "field is immutable")
		}
		return f.List()
	}
	r.ValidateStatusUpdate = func(q, _ *corev1.ResourceQuota) field.ErrorList {
		var f check.Errors
		if q.ResourceVersion == "" {
			f.Required(check.At("resourceVersion"), "")
		}
		quotaStatus(&f, q)
		return f.List()
	}
	return r.Strategy()
}

func quotaStatus(f *check.Errors, q *corev1.ResourceQuota) {
	quotaAmounts(f, check.At("status", "hard"), q.Status.Hard)
	quotaAmounts(f, check.At("status", "used"), q.Status.Used)
}

func quotaAmounts(f *check.Errors, p *check.Path, list corev1.ResourceList) {
	for _, name := range check.Names(list) {
		f.QuotaResourceName(p.Key(string(name)), name)
		f.Amount(p.Key(string(name)), name, list[name])
	}
}

var quotaScopes = []corev1.ResourceQuotaScope{
	corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
	corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort,
	corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
	corev1.ResourceQuotaScopeVolumeAttributesClass,
}

func scopeSet(list []corev1.ResourceQuotaScope) map[corev1.ResourceQuotaScope]bool {
	set := map[corev1.ResourceQuotaScope]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}

func validateQuota(q *corev1.ResourceQuota) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	quotaAmounts(&f, p.Child("hard"), q.Spec.Hard)
	at := p.Child("scopes")
	for _, s := range q.Spec.Scopes {
		if !slices.Contains(quotaScopes, s) {
			f.Invalid(at, q.Spec.Scopes, "unsupported scope")
		}
		scopeApplies(&f, at, q.Spec.Scopes, s, q.Spec.Hard)
	}
	conflictingScopes(&f, at, q.Spec.Scopes, scopeSet(q.Spec.Scopes))
	if q.Spec.ScopeSelector == nil {
		return f.List()
	}
	at = p.Child("scopeSelector", "matchExpressions")
	named := map[corev1.ResourceQuotaScope]bool{}
	for _, r := range q.Spec.ScopeSelector.MatchExpressions {
		if !slices.Contains(quotaScopes, r.ScopeName) {
			f.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope")
		}
		scopeApplies(&f, at, q.Spec.ScopeSelector, r.ScopeName, q.Spec.Hard)
		named[r.ScopeName] = true
		valued := r.ScopeName == corev1.ResourceQuotaScopePriorityClass || r.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass
		if !valued && slices.Contains(quotaScopes, r.ScopeName) && r.Operator != corev1.ScopeSelectorOpExists {
			f.Invalid(at.Child("operator"), r.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
		}
		switch r.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			if len(r.Values) == 0 {
				f.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				f.Invalid(at.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			f.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator")
		}
	}
	conflictingScopes(&f, p.Child("scopeSelector", "matchExpressions"), q.Spec.Scopes, named)
	return f.List()
}

func conflictingScopes(f *check.Errors, p *check.Path, value any, set map[corev1.ResourceQuotaScope]bool) {
	if set[corev1.ResourceQuotaScopeBestEffort] && set[corev1.ResourceQuotaScopeNotBestEffort] ||
		set[corev1.ResourceQuotaScopeTerminating] && set[corev1.ResourceQuotaScopeNotTerminating] {
		f.Invalid(p, value, "conflicting scopes")
	}
}

// scopeApplies requires the scope to support each limited resource.
func scopeApplies(f *check.Errors, p *check.Path, value any, scope corev1.ResourceQuotaScope, hard corev1.ResourceList) {
	compute := []string{"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage"}
	for _, name := range check.Names(hard) {
		s := string(name)
		if strings.Contains(s, "/") {
			continue
		}
		ok := true
		switch scope {
		case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
			corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
			ok = s == "pods" || slices.Contains(compute, s)
		case corev1.ResourceQuotaScopeBestEffort:
			ok = s == "pods"
		case corev1.ResourceQuotaScopeVolumeAttributesClass:
			ok = s == "persistentvolumeclaims" || s == "requests.storage"
		}
		if !ok {
			f.Invalid(p, value, "unsupported scope applied to resource")
		}
	}
}
