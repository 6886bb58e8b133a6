package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/internal/server/auth"
)

// Allows reports whether any of the rules allows a.
func Allows(rules []rbacv1.PolicyRule, a auth.Attributes) bool {
	for i := range rules {
		if allows(&rules[i], &a) {
			return true
		}
	}
	return false
}

// allows reports whether one rule allows a.
func allows(rule *rbacv1.PolicyRule, a *auth.Attributes) bool {
	if !has(rule.Verbs, a.Verb) {
		return false
	}
	if !a.IsResource {
		return pathMatches(rule.NonResourceURLs, a.Path)
	}
	return has(rule.APIGroups, a.Group) &&
		resourceMatches(rule.Resources, a.Resource, a.Subresource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

// has reports whether a list has s or "*".
func has(list []string, s string) bool {
	for _, e := range list {
		if e == s || e == "*" {
			return true
		}
	}
	return false
}

// resourceMatches accepts "*", "pods", "pods/status" and "*/status".
func resourceMatches(list []string, resource, subresource string) bool {
	for _, e := range list {
		switch {
		case e == "*":
			return true
		case subresource == "":
			if e == resource {
				return true
			}
		default:
			r, sub, ok := strings.Cut(e, "/")
			if ok && sub == subresource && (r == resource || r == "*") {
				return true
			}
		}
	}
	return false
}

// pathMatches accepts "*", "/healthz" and "/healthz/*".
func pathMatches(list []string, path string) bool {
	for _, e := range list {
		if e == path || e == "*" {
			return true
		}
		if prefix, ok := strings.CutSuffix(e, "*"); ok && strings.HasPrefix(path, strings.TrimRight(prefix, "*")) {
			return true
		}
	}
	return false
}
