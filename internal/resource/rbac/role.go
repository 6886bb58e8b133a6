package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Roles have no columns of their own.
var (
	roleTable = resource.TableOf(func(r *rbacv1.Role) []any {
		return []any{r.Name, resource.CreatedAt(r)}
	}, resource.NameColumn, resource.CreatedColumn)
	clusterRoleTable = resource.TableOf(func(r *rbacv1.ClusterRole) []any {
		return []any{r.Name, resource.CreatedAt(r)}
	}, resource.NameColumn, resource.CreatedColumn)
)

var roleStrategy = resource.Rules[*rbacv1.Role]{
	PrepareForCreate:    func(r *rbacv1.Role) { resource.NilIfEmpty(&r.Rules) },
	PrepareForUpdate:    func(r, _ *rbacv1.Role) { resource.NilIfEmpty(&r.Rules) },
	Validate:            validateRole,
	ValidateUpdate:      func(r, _ *rbacv1.Role) field.ErrorList { return validateRole(r) },
	AllowCreateOnUpdate: true,
}.Strategy()

var clusterRoleStrategy = resource.Rules[*rbacv1.ClusterRole]{
	PrepareForCreate:    func(r *rbacv1.ClusterRole) { resource.NilIfEmpty(&r.Rules) },
	PrepareForUpdate:    func(r, _ *rbacv1.ClusterRole) { resource.NilIfEmpty(&r.Rules) },
	Validate:            validateClusterRole,
	ValidateUpdate:      func(r, _ *rbacv1.ClusterRole) field.ErrorList { return validateClusterRole(r) },
	AllowCreateOnUpdate: true,
}.Strategy()

func validateRole(r *rbacv1.Role) field.ErrorList {
	var f check.Errors
	for i := range r.Rules {
		rule(&f, check.At("rules").Index(i), &r.Rules[i], true)
	}
	return f.List()
}

func validateClusterRole(r *rbacv1.ClusterRole) field.ErrorList {
	var f check.Errors
	for i := range r.Rules {
		rule(&f, check.At("rules").Index(i), &r.Rules[i], false)
	}
	if a := r.AggregationRule; a != nil {
		p := check.At("aggregationRule", "clusterRoleSelectors")
		if len(a.ClusterRoleSelectors) == 0 {
			f.Required(p, "at least one clusterRoleSelector required if aggregationRule is non-nil")
		}
		for i := range a.ClusterRoleSelectors {
			f.Selector(p.Index(i), &a.ClusterRoleSelectors[i])
			if _, err := metav1.LabelSelectorAsSelector(&a.ClusterRoleSelectors[i]); err != nil {
				f.Invalid(p.Index(i), nil, "invalid label selector.")
			}
		}
	}
	return f.List()
}

func rule(f *check.Errors, p *check.Path, r *rbacv1.PolicyRule, namespaced bool) {
	if len(r.Verbs) == 0 {
		f.Required(p.Child("verbs"), "")
	}
	if len(r.NonResourceURLs) > 0 {
		at := p.Child("nonResourceURLs")
		if namespaced {
			f.Invalid(at, r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs")
		}
		if len(r.APIGroups) > 0 || len(r.Resources) > 0 || len(r.ResourceNames) > 0 {
			f.Invalid(at, r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if len(r.APIGroups) == 0 {
		f.Required(p.Child("apiGroups"), "resource rules must supply at least one api group")
	}
	if len(r.Resources) == 0 {
		f.Required(p.Child("resources"), "resource rules must supply at least one resource")
	}
}
