package clusterroleaggregation_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func verbs(r *rbacv1.ClusterRole) (all []string) {
	for _, rule := range r.Rules {
		all = append(all, rule.Resources[0]+":"+rule.Verbs[0])
	}
	return all
}

// An aggregated role has the rules of its parts, and follows when they change.
func TestARoleOfRoles(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true})
	roles, ctx := client.For[*rbacv1.ClusterRole](env.Client(t)), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	part := func(name string, rules ...string) {
		t.Helper()
		r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"into": "whole"}}}
		for i := 0; i < len(rules); i += 2 {
			r.Rules = append(r.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{rules[i]}, Verbs: []string{rules[i+1]}})
		}
		_, err := roles.Create(ctx, r)
		must(err)
	}
	made := func(name, labelled string) {
		t.Helper()
		_, err := roles.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"into": "more"}},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"into": labelled}}}}})
		must(err)
	}
	has := func(name, what string, want ...string) {
		t.Helper()
		waittest.One(t, roles, name, what, func(r *rbacv1.ClusterRole) bool { return slices.Equal(verbs(r), want) })
	}
	part("b", "pods", "get", "services", "get")
	made("more", "more")
	made("whole", "whole")
	has("whole", "what there was", "pods:get", "services:get")
	part("a", "pods", "list", "pods", "get")
	has("whole", "another before it, the same rule once", "pods:list", "pods:get", "services:get")
	has("more", "the role of a role of roles", "pods:list", "pods:get", "services:get")
	_, err := roles.Patch(ctx, "b", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"into": "nothing"}}}))
	must(err)
	has("whole", "without the one that left", "pods:list", "pods:get")
	must(roles.Delete(ctx, "a"))
	has("more", "without the one that is gone")

	part("view-widgets", "widgets", "get")
	_, err = roles.Patch(ctx, "view-widgets", client.MergePatch(map[string]any{"metadata": map[string]any{
		"labels": map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}}}))
	must(err)
	for _, name := range []string{"view", "edit", "admin"} {
		waittest.One(t, roles, name, name+" with what was added", func(r *rbacv1.ClusterRole) bool {
			all := verbs(r)
			return slices.Contains(all, "widgets:get") && len(all) > 5
		})
	}
}
