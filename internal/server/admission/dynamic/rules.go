package dynamic

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
)

// Target is the resource a configuration is invoked for: that of the request, or an equivalent one, with the same
// objects in another version or group.
type Target struct {
	Row     *resource.Resource
	Version string
}

// GVR returns the target's resource.
func (t Target) GVR() schema.GroupVersionResource { return t.Row.GVR(t.Version) }

// Rules are the rules of a configuration.
type Rules struct {
	List []admissionv1.NamedRuleWithOperations
	// Policy Equivalent makes a rule for one version match requests in another.
	Policy *admissionv1.MatchPolicyType
}

// Table returns the rows of the server.
type Table func() []*resource.Resource

// Match returns the target for which the rules match the request. ok is false if they do not match.
func (l Rules) Match(r *admission.Request, rows Table) (t Target, ok bool) {
	own := Target{r.Resource, r.Version}
	for i := range l.List {
		if matches(&l.List[i], r, own.GVR()) {
			return own, true
		}
	}
	if l.Policy == nil || *l.Policy != admissionv1.Equivalent || len(l.List) == 0 {
		return Target{}, false
	}
	others := equivalents(r, rows())
	for i := range l.List {
		for _, t := range others {
			if matches(&l.List[i], r, t.GVR()) {
				return t, true
			}
		}
	}
	return Target{}, false
}

// equivalents returns the other resources with the request's objects.
func equivalents(r *admission.Request, rows []*resource.Resource) (list []Target) {
	for _, row := range rows {
		if row != r.Resource && (row.StoragePrefix == "" || row.StoragePrefix != r.Resource.StoragePrefix) {
			continue
		}
		if r.Subresource != "" && row.Subresource(r.Subresource) == nil {
			continue
		}
		for _, v := range row.Versions {
			if row != r.Resource || v.Name != r.Version {
				list = append(list, Target{row, v.Name})
			}
		}
	}
	return list
}

func matches(rule *admissionv1.NamedRuleWithOperations, r *admission.Request, gvr schema.GroupVersionResource) bool {
	return inScope(rule.Scope, r, gvr) &&
		(slices.Contains(rule.Operations, admissionv1.OperationAll) || slices.Contains(rule.Operations, admissionv1.OperationType(r.Verb))) &&
		has(rule.APIGroups, gvr.Group) && has(rule.APIVersions, gvr.Version) && hasResource(rule.Resources, gvr.Resource, r.Subresource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.Name))
}

func has(list []string, one string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, one)
}

func hasResource(list []string, plural, sub string) bool {
	for _, item := range list {
		p, s, _ := strings.Cut(item, "/")
		if (p == "*" || p == plural) && (s == "*" || s == sub) {
			return true
		}
	}
	return false
}

// inScope reports whether the scope matches. A Namespace is cluster-scoped, although admission counts it as being
// in itself.
func inScope(scope *admissionv1.ScopeType, r *admission.Request, gvr schema.GroupVersionResource) bool {
	if scope == nil || *scope == admissionv1.AllScopes {
		return true
	}
	namespaced := r.Home() != "" && gvr != schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	switch *scope {
	case admissionv1.NamespacedScope:
		return namespaced
	case admissionv1.ClusterScope:
		return !namespaced
	}
	return false
}

// Named converts the rules of webhooks to those of policies.
func Named(list []admissionv1.RuleWithOperations) []admissionv1.NamedRuleWithOperations {
	out := make([]admissionv1.NamedRuleWithOperations, len(list))
	for i := range list {
		out[i].RuleWithOperations = list[i]
	}
	return out
}

// Exempt reports whether a request is exempt from all configurations. The configurations themselves are, because
// otherwise a broken one could not be repaired, and so are the reviews by which servers authenticate and authorize.
func Exempt(r *admission.Request) bool {
	switch r.Resource.Group {
	case "admissionregistration.k8s.io":
		return strings.HasPrefix(r.Resource.Kind, "Validating") || strings.HasPrefix(r.Resource.Kind, "Mutating")
	case "authentication.k8s.io", "authorization.k8s.io":
		return r.Resource.Virtual
	}
	return false
}
