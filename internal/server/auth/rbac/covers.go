package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

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

// Lacking returns the rules, or the parts of them, that held does not cover, grouped by resources.
func Lacking(held, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var missing []rbacv1.PolicyRule
	for _, r := range rules {
		for _, part := range split(r) {
			if !covered(held, part) {
				missing = append(missing, part)
			}
		}
	}
	return join(missing)
}

// split splits a rule into rules of one verb and one resource or path.
func split(r rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var parts []rbacv1.PolicyRule
	for _, verb := range r.Verbs {
		verbs := []string{verb}
		for _, g := range r.APIGroups {
			for _, res := range r.Resources {
				if len(r.ResourceNames) == 0 {
					parts = append(parts, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{g}, Resources: []string{res}})
				}
				for _, n := range r.ResourceNames {
					parts = append(parts, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{g}, Resources: []string{res}, ResourceNames: []string{n}})
				}
			}
		}
		for _, path := range r.NonResourceURLs {
			parts = append(parts, rbacv1.PolicyRule{Verbs: verbs, NonResourceURLs: []string{path}})
		}
	}
	return parts
}

// covered reports whether some held rule covers part, which must be a result of split.
func covered(held []rbacv1.PolicyRule, part rbacv1.PolicyRule) bool {
	for i := range held {
		h := &held[i]
		if !has(h.Verbs, part.Verbs[0]) {
			continue
		}
		if len(part.NonResourceURLs) > 0 {
			if pathMatches(h.NonResourceURLs, part.NonResourceURLs[0]) {
				return true
			}
			continue
		}
		if !has(h.APIGroups, part.APIGroups[0]) || !coversResource(h.Resources, part.Resources[0]) {
			continue
		}
		if len(h.ResourceNames) == 0 || len(part.ResourceNames) > 0 && slices.Contains(h.ResourceNames, part.ResourceNames[0]) {
			return true
		}
	}
	return false
}

func coversResource(held []string, resource string) bool {
	_, sub, isSub := strings.Cut(resource, "/")
	for _, h := range held {
		if h == "*" || h == resource || isSub && h == "*/"+sub {
			return true
		}
	}
	return false
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
