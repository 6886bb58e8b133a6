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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const byRule = "aggregated"

// manager is the field manager of the rules.
const manager = "clusterrole-aggregation-controller"

type aggregator struct {
	api   client.Resource[*rbacv1.ClusterRole]
	roles *informer.Informer[*rbacv1.ClusterRole]
	loop  *controller.Controller
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	a := &aggregator{
		api:   client.For[*rbacv1.ClusterRole](env.Client),
		roles: informer.For[*rbacv1.ClusterRole](env.Informers),
	}
	a.roles.Index(byRule, func(r *rbacv1.ClusterRole) []string {
		if r.AggregationRule == nil {
			return nil
		}
		return []string{""}
	})
	a.loop = controller.New("clusterroleaggregation", a.reconcile, controller.Options{})
	controller.WatchFunc(a.loop, a.roles, informer.Handler[*rbacv1.ClusterRole]{
		Add: func(r *rbacv1.ClusterRole, _ bool) { a.wake(r) },
		Update: func(old, r *rbacv1.ClusterRole) {
			if old.AggregationRule != nil || r.AggregationRule != nil || !equality.Semantic.DeepEqual(old.Rules, r.Rules) ||
				!equality.Semantic.DeepEqual(old.Labels, r.Labels) {
				a.wake(old, r)
			}
		},
		Delete: func(r *rbacv1.ClusterRole) { a.wake(r) },
	})
	return a.loop
}

// wake enqueues the aggregated roles that a changed role is, or was, part of. The newest state is the last of
// changed.
func (a *aggregator) wake(changed ...*rbacv1.ClusterRole) {
	for _, whole := range a.roles.Store().ByIndex(byRule, "") {
		if slices.ContainsFunc(changed, func(r *rbacv1.ClusterRole) bool { return r.Name == whole.Name || selects(whole, r) }) {
			a.loop.EnqueueFor(controller.KeyOf(whole), changed[len(changed)-1])
		}
	}
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

func (a *aggregator) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	whole, ok := a.roles.Store().Get("", k.Name)
	if !ok || whole.AggregationRule == nil {
		return controller.Result{}, nil
	}
	rules, err := join(whole, a.roles.Store().List(""))
	if err != nil || equality.Semantic.DeepEqual(rules, whole.Rules) {
		return controller.Result{}, err
	}
	_, err = a.api.Patch(ctx, k.Name, client.MergePatch(map[string]any{
		"metadata": map[string]any{"uid": whole.UID, "resourceVersion": whole.ResourceVersion},
		"rules":    rules,
	}), metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return controller.Result{}, err
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
