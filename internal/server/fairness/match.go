package fairness

import (
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
)

// rule is a rule of a FlowSchema: requests of any of the subjects that match one of the rules for resources or paths.
type rule struct {
	subjects  []flowcontrolv1.Subject
	resources []flowcontrolv1.ResourcePolicyRule
	paths     []flowcontrolv1.NonResourcePolicyRule
	// allResources and allPaths: there is a rule that each such request matches.
	allResources, allPaths bool
}

func compileRule(r *flowcontrolv1.PolicyRulesWithSubjects) rule {
	return rule{
		subjects: r.Subjects, resources: r.ResourceRules, paths: r.NonResourceRules,
		allResources: slices.ContainsFunc(r.ResourceRules, func(r flowcontrolv1.ResourcePolicyRule) bool {
			return every(r.Verbs) && every(r.APIGroups) && every(r.Resources) && every(r.Namespaces) && r.ClusterScope
		}),
		allPaths: slices.ContainsFunc(r.NonResourceRules, func(r flowcontrolv1.NonResourcePolicyRule) bool { return every(r.Verbs) && every(r.NonResourceURLs) }),
	}
}

// match returns the first FlowSchema that matches a request, and what tells its flow from the others of the FlowSchema.
func (p *plan) match(u *auth.User, in *request.Info) (*schema, string) {
	for _, r := range p.users.rulesOf(p, u) {
		if r.rule.matches(in) {
			return r.schema, r.schema.flow(u, in)
		}
	}
	for _, s := range p.schemas { // a user without a group
		if s.name == flowcontrolv1.FlowSchemaNameCatchAll {
			return s, s.flow(u, in)
		}
	}
	panic("the plan has no FlowSchema for all requests")
}

func (s *schema) flow(u *auth.User, in *request.Info) string {
	if !s.queues {
		return ""
	}
	switch s.by {
	case flowcontrolv1.FlowDistinguisherMethodByUserType:
		return u.Name
	case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
		return in.Namespace
	}
	return ""
}

func (r *rule) matches(in *request.Info) bool {
	if in.IsResource {
		return r.allResources || slices.ContainsFunc(r.resources, func(r flowcontrolv1.ResourcePolicyRule) bool { return matchesResource(&r, in) })
	}
	return r.allPaths || slices.ContainsFunc(r.paths, func(r flowcontrolv1.NonResourcePolicyRule) bool {
		return has(r.Verbs, in.Verb) && matchesPath(r.NonResourceURLs, in.Path)
	})
}

func matchesResource(r *flowcontrolv1.ResourcePolicyRule, in *request.Info) bool {
	if !has(r.Verbs, in.Verb) || !has(r.APIGroups, in.Group) {
		return false
	}
	if !every(r.Resources) && !slices.ContainsFunc(r.Resources, func(name string) bool {
		base, sub, _ := strings.Cut(name, "/")
		return base == in.Resource && sub == in.Subresource
	}) {
		return false
	}
	if in.Namespace == "" {
		return r.ClusterScope
	}
	return has(r.Namespaces, in.Namespace)
}

func matchesPath(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		if p == flowcontrolv1.NonResourceAll || p == path {
			return true
		}
		return strings.HasPrefix(path, strings.TrimSuffix(strings.TrimSuffix(p, "*"), "/")+"/")
	})
}

// every reports whether the list stands for all.
func every(list []string) bool { return len(list) == 1 && list[0] == "*" }

func has(list []string, x string) bool { return every(list) || slices.Contains(list, x) }

func (r *rule) concerns(u *auth.User) bool {
	return slices.ContainsFunc(r.subjects, func(s flowcontrolv1.Subject) bool {
		switch {
		case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
			return s.User.Name == flowcontrolv1.NameAll || s.User.Name == u.Name
		case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
			return s.Group.Name == flowcontrolv1.NameAll || u.InGroup(s.Group.Name)
		case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
			namespace, name, ok := auth.SplitServiceAccount(u.Name)
			return ok && namespace == s.ServiceAccount.Namespace && (s.ServiceAccount.Name == flowcontrolv1.NameAll || s.ServiceAccount.Name == name)
		}
		return false
	})
}
