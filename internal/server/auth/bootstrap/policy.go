package bootstrap

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth/rbac"
)

//go:embed policy.txt
var policyText string

const (
	autoupdate   = "rbac.authorization.kubernetes.io/autoupdate"
	bootstrapped = "kubernetes.io/bootstrapping"
	aggregateTo  = "rbac.authorization.k8s.io/aggregate-to-"
)

// gateWord begins the last word of a line that holds only if a feature gate is on.
const gateWord = "gate="

// Policy returns the default roles and bindings for the feature gates that enabled reports. Aggregated roles have the rules
// of their parts filled in.
func Policy(enabled func(gate string) bool) []runtime.Object {
	var list []runtime.Object
	var clusterRoles []*rbacv1.ClusterRole
	var rules *[]rbacv1.PolicyRule
	for line := range strings.Lines(policyText) {
		line = strings.TrimRight(line, "\n")
		words := strings.Fields(line)
		if len(words) == 0 || line[0] == '#' {
			continue
		}
		gate, gated := strings.CutPrefix(words[len(words)-1], gateWord)
		if gated {
			words = words[:len(words)-1]
		}
		on := !gated || enabled(gate)
		switch {
		case !on && line[0] == '\t', !on && strings.HasSuffix(words[0], "Binding"):
		case !on:
			rules = new([]rbacv1.PolicyRule) // of a role that is not there
		case line[0] == '\t':
			*rules = append(*rules, parseRule(words))
		case words[0] == "ClusterRole":
			r := clusterRole(words)
			clusterRoles, rules = append(clusterRoles, r), &r.Rules
			list = append(list, r)
		case words[0] == "Role":
			r := &rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: defaultMeta(words[1])}
			rules = &r.Rules
			list = append(list, r)
		default:
			list = append(list, binding(words))
		}
	}
	for _, r := range clusterRoles {
		r.Rules = rbac.Aggregate(r, clusterRoles)
	}
	return list
}

// NodeRules returns the rules of the role system:node, which must not be modified. It has no binding: a node has these
// rights only for objects that concern it.
func NodeRules() []rbacv1.PolicyRule { return nodeRules() }

var nodeRules = sync.OnceValue(func() []rbacv1.PolicyRule {
	for _, obj := range Policy(func(string) bool { return false }) {
		if r, ok := obj.(*rbacv1.ClusterRole); ok && r.Name == "system:node" {
			return r.Rules
		}
	}
	panic("policy.txt: no system:node")
})

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: kind}
}

func defaultMeta(name string) metav1.ObjectMeta {
	namespace, rest, ok := strings.Cut(name, "/")
	if !ok {
		namespace, rest = "", name
	}
	return metav1.ObjectMeta{
		Namespace: namespace, Name: rest,
		Labels:      map[string]string{bootstrapped: "rbac-defaults"},
		Annotations: map[string]string{autoupdate: "true"},
	}
}

func clusterRole(words []string) *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: defaultMeta(words[1])}
	for _, w := range words[2:] {
		how, role, _ := strings.Cut(w, "=")
		switch how {
		case "into":
			r.Labels[aggregateTo+role] = "true"
		case "from":
			r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{aggregateTo + role: "true"}},
			}}
		default:
			panic("policy.txt: " + strings.Join(words, " "))
		}
	}
	return r
}

func parseRule(words []string) rbacv1.PolicyRule {
	list := func(i int) []string { return strings.Split(words[i], ",") }
	if words[1] == "url" {
		return rbacv1.PolicyRule{Verbs: list(0), NonResourceURLs: list(2)}
	}
	r := rbacv1.PolicyRule{Verbs: list(0), APIGroups: list(1), Resources: list(2)}
	for i, g := range r.APIGroups {
		if g == "core" {
			r.APIGroups[i] = ""
		}
	}
	if len(words) > 3 {
		r.ResourceNames = list(3)
	}
	return r
}

func binding(words []string) runtime.Object {
	kind, name, _ := strings.Cut(words[2], "/")
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	var subjects []rbacv1.Subject
	for _, w := range words[3:] {
		kind, name, _ := strings.Cut(w, "/")
		s := rbacv1.Subject{Kind: kind, Name: name}
		if kind == rbacv1.ServiceAccountKind {
			s.Namespace, s.Name, _ = strings.Cut(name, "/")
		} else {
			s.APIGroup = rbacv1.GroupName
		}
		subjects = append(subjects, s)
	}
	m := defaultMeta(words[1])
	switch words[0] {
	case "ClusterRoleBinding":
		return &rbacv1.ClusterRoleBinding{TypeMeta: rbacType(words[0]), ObjectMeta: m, RoleRef: ref, Subjects: subjects}
	case "RoleBinding":
		return &rbacv1.RoleBinding{TypeMeta: rbacType(words[0]), ObjectMeta: m, RoleRef: ref, Subjects: subjects}
	}
	panic(fmt.Sprintf("policy.txt: %q", words))
}
