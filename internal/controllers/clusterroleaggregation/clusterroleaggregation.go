// Package clusterroleaggregation writes into each ClusterRole with an aggregationRule the rules of the roles that
// its selectors match: in the order of the selectors, then of the roles' names, without duplicates.
//
// A role aggregated from aggregated roles converges step by step: each write is an event that causes the next.
package clusterroleaggregation

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

const byRule = "aggregated"

// manager is the field manager of the rules.
const manager = "clusterrole-aggregation-controller"

type aggregator struct {
	roles controller.Objects[*rbacv1.ClusterRole]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	a := &aggregator{controller.ObjectsOf[*rbacv1.ClusterRole](env)}
	a.roles.Index(byRule, func(r *rbacv1.ClusterRole) []string {
		if r.AggregationRule == nil {
			return nil
		}
		return []string{""}
	})
	return controller.New("clusterroleaggregation", controller.ByObject(a.roles, a.reconcile), controller.Options{}).Watch(
		controller.Watches(a.roles, a.wholesOf).If(func(old, r *rbacv1.ClusterRole) bool {
			return old.AggregationRule != nil || r.AggregationRule != nil || !equality.Semantic.DeepEqual(old.Rules, r.Rules) ||
				!equality.Semantic.DeepEqual(old.Labels, r.Labels)
		}),
	)
}

// wholesOf returns the aggregated roles that a role is, or is part of.
func (a *aggregator) wholesOf(r *rbacv1.ClusterRole) (keys []controller.Key) {
	for _, whole := range a.roles.Store().ByIndex(byRule, "") {
		if r.Name == whole.Name || selects(whole, r) {
			keys = append(keys, controller.KeyOf(whole))
		}
	}
	return keys
}

// selects reports whether part is among the parts of whole.
func selects(whole, part *rbacv1.ClusterRole) bool {
	for i := range whole.AggregationRule.ClusterRoleSelectors {
		s, err := metav1.LabelSelectorAsSelector(&whole.AggregationRule.ClusterRoleSelectors[i])
		if err != nil || s.Matches(labels.Set(part.Labels)) { // reconcile reports an invalid selector
			return true
		}
	}
	return false
}

func (a *aggregator) reconcile(ctx context.Context, whole *rbacv1.ClusterRole) (controller.Result, error) {
	if whole.AggregationRule == nil {
		return controller.Result{}, nil
	}
	rules, err := join(whole, a.roles.Store().List(""))
	if err != nil || equality.Semantic.DeepEqual(rules, whole.Rules) {
		return controller.Result{}, err
	}
	_, err = a.roles.API.Patch(ctx, whole.Name, client.MergePatch(map[string]any{
		"metadata": map[string]any{"uid": whole.UID, "resourceVersion": whole.ResourceVersion},
		"rules":    rules,
	}), metav1.PatchOptions{FieldManager: manager})
	return controller.Result{}, client.IgnoreNotFound(err)
}

// join returns the rules of an aggregated role.
func join(whole *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) ([]rbacv1.PolicyRule, error) {
	all = slices.SortedFunc(slices.Values(all), func(a, b *rbacv1.ClusterRole) int { return strings.Compare(a.Name, b.Name) })
	rules := []rbacv1.PolicyRule{}
	for i := range whole.AggregationRule.ClusterRoleSelectors {
		s, err := metav1.LabelSelectorAsSelector(&whole.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, err
		}
		for _, part := range all {
			if part.Name == whole.Name || !s.Matches(labels.Set(part.Labels)) {
				continue
			}
			for _, r := range part.Rules {
				if !slices.ContainsFunc(rules, func(have rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(have, r) }) {
					rules = append(rules, r)
				}
			}
		}
	}
	return rules, nil
}
