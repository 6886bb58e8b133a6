package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"fairlead.dev/internal/server/auth"
)

// Escalation is the error for granting rights that the granting user lacks.
type Escalation struct {
	User *auth.User
	// Missing are the rules the user lacks, grouped by resources.
	Missing []rbacv1.PolicyRule
}

// Error is in kube-apiserver's words.
func (e *Escalation) Error() string {
	var lines []string
	for _, r := range e.Missing {
		lines = append(lines, Describe(r))
	}
	slices.Sort(lines)
	return fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		e.User.Name, e.User.Groups, strings.Join(slices.Compact(lines), "\n"))
}

// MayGrant returns an *Escalation if the user lacks any of the rules in the namespace.
func (p *Policy) MayGrant(u *auth.User, namespace string, rules []rbacv1.PolicyRule) error {
	held, _ := p.RulesFor(u, namespace)
	if missing := Lacking(held, rules); len(missing) > 0 {
		return &Escalation{User: u, Missing: missing}
	}
	return nil
}

// Lacking returns the rules, or the parts of them, that held does not allow. Parts that differ only
// in their verb are joined.
func Lacking(held, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, missing := validation.Covers(held, rules)
	return join(missing)
}

// join merges rules that differ only in their verb, in order.
func join(parts []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	at := map[string]int{}
	var out []rbacv1.PolicyRule
	for _, p := range parts {
		k := fmt.Sprintf("%q %q %q %q", p.APIGroups, p.Resources, p.ResourceNames, p.NonResourceURLs)
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, p)
			continue
		}
		if !slices.Contains(out[i].Verbs, p.Verbs[0]) {
			out[i].Verbs = append(slices.Clone(out[i].Verbs), p.Verbs[0])
		}
	}
	return out
}
