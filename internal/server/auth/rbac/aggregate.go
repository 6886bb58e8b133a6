package rbac

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Aggregate returns the effective rules of r: its own, or, if it has an aggregationRule, those of the roles in all
// that its selectors match, in the order of the selectors and then of names, without duplicates.
func Aggregate(r *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) []rbacv1.PolicyRule {
	if r.AggregationRule == nil {
		return r.Rules
	}
	var rules []rbacv1.PolicyRule
	for i := range r.AggregationRule.ClusterRoleSelectors {
		sel, err := metav1.LabelSelectorAsSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			continue // validation rejects such selectors
		}
		var parts []*rbacv1.ClusterRole
		for _, part := range all {
			if part.Name != r.Name && sel.Matches(labels.Set(part.Labels)) {
				parts = append(parts, part)
			}
		}
		slices.SortFunc(parts, func(a, b *rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
		for _, part := range parts {
			for _, rule := range nested(part, all, map[string]bool{r.Name: true}) {
				if !containsRule(rules, rule) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules
}

// nested returns the rules of a part, which may be aggregated itself: edit is a part of admin. seen holds the roles
// on the way, because two roles may select each other.
func nested(part *rbacv1.ClusterRole, all []*rbacv1.ClusterRole, seen map[string]bool) []rbacv1.PolicyRule {
	if part.AggregationRule == nil || seen[part.Name] {
		return part.Rules
	}
	seen[part.Name] = true
	defer delete(seen, part.Name)
	var rules []rbacv1.PolicyRule
	for i := range part.AggregationRule.ClusterRoleSelectors {
		sel, err := metav1.LabelSelectorAsSelector(&part.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			continue
		}
		for _, p := range all {
			if !seen[p.Name] && sel.Matches(labels.Set(p.Labels)) {
				rules = append(rules, nested(p, all, seen)...)
			}
		}
	}
	return rules
}

func containsRule(rules []rbacv1.PolicyRule, rule rbacv1.PolicyRule) bool {
	for i := range rules {
		if equality.Semantic.DeepEqual(rules[i], rule) {
			return true
		}
	}
	return false
}
