package abac

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/internal/server/auth"
)

// Policies are those of a file.
type Policies []Policy

// readVerbs are the verbs of policies that allow reads only.
var readVerbs = []string{"get", "list", "watch"}

// Authorize implements auth.Authorizer.
func (all Policies) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	for i := range all {
		if all[i].allows(a) {
			return auth.Allow, "", nil
		}
	}
	return auth.NoOpinion, "No policy matched.", nil
}

// RulesFor returns the rules of a user in a namespace.
func (all Policies) RulesFor(u *auth.User, namespace string) (rules []rbacv1.PolicyRule) {
	for i := range all {
		p := &all[i]
		if !p.applies(u) || p.Namespace != "*" && p.Namespace != namespace {
			continue
		}
		verbs := []string{"*"}
		if p.Readonly {
			verbs = readVerbs
		}
		if p.Resource != "" {
			rules = append(rules, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{p.APIGroup}, Resources: []string{p.Resource}})
		}
		if p.NonResourcePath != "" {
			rules = append(rules, rbacv1.PolicyRule{Verbs: verbs, NonResourceURLs: []string{p.NonResourcePath}})
		}
	}
	return rules
}

func (p *Policy) allows(a auth.Attributes) bool {
	if !p.applies(a.User) || p.Readonly && !slices.Contains(readVerbs, a.Verb) {
		return false
	}
	if a.IsResource {
		return is(p.Namespace, a.Namespace) && is(p.Resource, a.Resource) && is(p.APIGroup, a.Group)
	}
	beginning, many := strings.CutSuffix(p.NonResourcePath, "*")
	return p.NonResourcePath == a.Path || many && strings.HasPrefix(a.Path, strings.TrimRight(beginning, "*"))
}

// is reports whether a value of a policy stands for that of a request.
func is(policy, request string) bool { return policy == "*" || policy == request }

// applies reports whether the policy is one of the user. One without a user and a group is of no user.
func (p *Policy) applies(u *auth.User) bool {
	if u == nil || p.User == "" && p.Group == "" {
		return false
	}
	return (p.User == "" || p.User == u.Name) && (p.Group == "" || u.InGroup(p.Group))
}
