package validatingadmissionpolicystatus

import (
	"cmp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// maxKinds is the maximum number of kinds that a policy is checked against.
const maxKinds = 10

// named returns the rules with literal groups, versions and resources, in order; wildcard resources and
// subresources are left out.
func named(m *admissionv1.MatchResources) []admissionv1.Rule {
	if m == nil {
		return nil
	}
	var rules []admissionv1.Rule
	for _, in := range m.ResourceRules {
		pattern := func(s string) bool { return strings.Contains(s, "*") }
		if slices.ContainsFunc(in.APIGroups, pattern) || slices.ContainsFunc(in.APIVersions, pattern) {
			continue
		}
		r := admissionv1.Rule{APIGroups: slices.Sorted(slices.Values(in.APIGroups)), APIVersions: slices.Sorted(slices.Values(in.APIVersions))}
		for _, name := range in.Resources {
			if !strings.ContainsAny(name, "*/") {
				r.Resources = append(r.Resources, name)
			}
		}
		slices.Sort(r.Resources)
		if len(r.APIGroups) > 0 && len(r.APIVersions) > 0 && len(r.Resources) > 0 {
			rules = append(rules, r)
		}
	}
	return rules
}

// kinds returns the kinds of the resources in the rules, sorted. As in kube-controller-manager, a resource may be
// given by its singular, the group "" stands for any, and the search ends with the rule that reaches the maximum
// number of kinds.
func kinds(rules []admissionv1.Rule, served []client.APIResource) []schema.GroupVersionKind {
	var found []schema.GroupVersionKind
	for _, r := range rules {
		count := 0
		for _, group := range r.APIGroups {
			for _, version := range r.APIVersions {
				for _, name := range r.Resources {
					for _, s := range served {
						if s.GVR.Version != version || group != "" && s.GVR.Group != group || s.GVR.Resource != name && s.Singular != name {
							continue
						}
						if !slices.Contains(found, s.Kind) {
							found = append(found, s.Kind)
						}
						if count++; count == maxKinds {
							return sorted(found)
						}
					}
				}
			}
		}
	}
	return sorted(found)
}

func sorted(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version), strings.Compare(a.Kind, b.Kind))
	})
	return kinds
}
