package review

import (
	"context"
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/nodes"
)

// everything are the rules of a server that allows everything.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

func (d Deps) selfSubjectRulesReview(ctx context.Context, u *auth.User, _ string, r *authorizationv1.SelfSubjectRulesReview) error {
	if r.Spec.Namespace == "" {
		return apierrors.NewBadRequest("no namespace on request")
	}
	namespace := r.Spec.Namespace
	*r = authorizationv1.SelfSubjectRulesReview{TypeMeta: r.TypeMeta, Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{},
		NonResourceRules: []authorizationv1.NonResourceRule{},
	}} // without the question, as in kube-apiserver
	var errs []error
	for _, kind := range d.Types() {
		rules, known, err := d.rulesOf(ctx, kind, u, namespace)
		addRules(&r.Status, rules)
		if !known {
			r.Status.Incomplete = true
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		r.Status.EvaluationError = err.Error()
	}
	return nil
}

// rulesOf returns the rules by which an authorizer of the type allows the user requests in the namespace. known is false if it
// allows others too.
func (d Deps) rulesOf(ctx context.Context, kind string, u *auth.User, namespace string) (rules []rbacv1.PolicyRule, known bool, err error) {
	switch kind {
	case chain.ABAC:
		return d.ABAC(u, namespace), true, nil
	case chain.AlwaysAllow:
		return everything, true, nil
	case chain.Node:
		if _, is := nodes.Name(u); is { // a node's rights depend on its pods
			return nil, false, errors.New("node authorizer does not support user rule resolution")
		}
	case chain.RBAC:
		policy, err := d.Policy(ctx)
		if err != nil {
			return nil, false, err
		}
		rules, err = policy.RulesFor(u, namespace)
		return rules, true, err
	case chain.Webhook:
		return nil, false, errors.New("webhook authorizer does not support user rule resolution")
	}
	return nil, true, nil
}

func addRules(to *authorizationv1.SubjectRulesReviewStatus, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			to.ResourceRules = append(to.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			to.NonResourceRules = append(to.NonResourceRules, authorizationv1.NonResourceRule{
				Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs,
			})
		}
	}
}
