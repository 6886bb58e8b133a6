package auditroles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Options configure roles.
type Options struct {
	// Name is that of the roles and bindings; "" is one made of the user's name.
	Name string
	// AnyName allows a verb on all objects of a resource in a namespace if it was asked for one of them.
	AnyName bool
}

// Roles returns the roles for the requests of a user and their bindings: a ClusterRole and its binding, if there are
// requests outside of namespaces, then a Role and its binding for each namespace. Its error is ErrSubject.
func (l *Log) Roles(user string, o Options) ([]runtime.Object, error) {
	requests := l.users[user]
	if len(requests) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrSubject, user)
	}
	name := cmp.Or(o.Name, roleName(user))
	byNamespace := map[string][]request{}
	for r := range requests {
		if o.AnyName {
			r.name = ""
		}
		byNamespace[r.namespace] = append(byNamespace[r.namespace], r)
	}
	everywhere := grantsOf(byNamespace[""], nil)
	var objects []runtime.Object
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Name: name}
		if namespace == "" {
			ref.Kind = "ClusterRole"
			objects = append(objects,
				&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta, Rules: append(everywhere.rules(), pathRules(byNamespace[""])...)},
				&rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{subject(user)}})
			continue
		}
		ref.Kind = "Role"
		if rules := grantsOf(byNamespace[namespace], everywhere).rules(); len(rules) > 0 {
			objects = append(objects,
				&rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: meta, Rules: rules},
				&rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: meta, RoleRef: ref, Subjects: []rbacv1.Subject{subject(user)}})
		}
	}
	return objects, nil
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

// roleName makes a name of that of a user. Names of roles may have most characters, but not a slash or a percent sign.
func roleName(user string) string {
	return "audited:" + strings.NewReplacer("/", "-", "%", "-").Replace(user)
}

func subject(user string) rbacv1.Subject {
	if namespace, name, ok := splitServiceAccount(user); ok {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}
}

// target are the objects of one rule before rules are merged.
type target struct{ group, resource, name string }

// grants has the verbs that are allowed on targets.
type grants map[target]map[string]bool

// grantsOf returns the grants for the requests for resources that others do not allow.
func grantsOf(requests []request, others grants) grants {
	g := grants{}
	for _, r := range requests {
		if t := (target{r.group, r.resource, r.name}); r.path == "" && !others.allow(t, r.verb) {
			if g[t] == nil {
				g[t] = map[string]bool{}
			}
			g[t][r.verb] = true
		}
	}
	for t, verbs := range g {
		for verb := range verbs {
			if t.name != "" && g[target{t.group, t.resource, ""}][verb] {
				delete(verbs, verb)
			}
		}
	}
	return g
}

func (g grants) allow(t target, verb string) bool {
	return g[t][verb] || g[target{t.group, t.resource, ""}][verb]
}

// rules merges targets with the same verbs: first names, then resources.
func (g grants) rules() []rbacv1.PolicyRule {
	type withNames struct{ group, resource, verbs string }
	names := map[withNames][]string{}
	for t, verbs := range g {
		if len(verbs) == 0 {
			continue
		}
		key := withNames{t.group, t.resource, strings.Join(slices.Sorted(maps.Keys(verbs)), " ")}
		if t.name == "" { // apart from those with names
			key.verbs += " *"
		}
		names[key] = append(names[key], t.name)
	}
	type withResources struct{ group, verbs, names string }
	resources := map[withResources][]string{}
	for key, list := range names {
		slices.Sort(list)
		merged := withResources{key.group, key.verbs, strings.Join(list, " ")}
		resources[merged] = append(resources[merged], key.resource)
	}
	var rules []rbacv1.PolicyRule
	for key, list := range resources {
		slices.Sort(list)
		rule := rbacv1.PolicyRule{APIGroups: []string{key.group}, Resources: list, Verbs: strings.Fields(strings.TrimSuffix(key.verbs, " *"))}
		if key.names != "" {
			rule.ResourceNames = strings.Split(key.names, " ")
		}
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, compareRules)
	return rules
}

// pathRules returns the rules for requests for no resource.
func pathRules(requests []request) (rules []rbacv1.PolicyRule) {
	verbs := map[string][]string{}
	for _, r := range requests {
		if r.path != "" {
			verbs[r.verb] = append(verbs[r.verb], r.path)
		}
	}
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		slices.Sort(verbs[verb])
		rules = append(rules, rbacv1.PolicyRule{NonResourceURLs: slices.Compact(verbs[verb]), Verbs: []string{verb}})
	}
	return rules
}

func compareRules(a, b rbacv1.PolicyRule) int {
	return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Resources, b.Resources),
		slices.Compare(a.ResourceNames, b.ResourceNames), slices.Compare(a.Verbs, b.Verbs))
}
