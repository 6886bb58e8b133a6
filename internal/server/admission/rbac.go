package admission

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
)

// RBACEscalation rejects roles and bindings that grant rights their author lacks, unless the author may escalate
// the role or bind to it.
type RBACEscalation struct {
	Authorizer auth.Authorizer
	Policy     func(context.Context) (*rbac.Policy, error)
}

// Name implements Plugin.
func (RBACEscalation) Name() string { return "RBACEscalation" }

// Complete implements Completer.
func (p RBACEscalation) Complete(ctx context.Context, r *Request) error {
	if r.Resource.Group != rbacv1.GroupName || r.Subresource != "" || r.Verb != Create && r.Verb != Update || r.User.InGroup(auth.MastersGroup) {
		return nil
	}
	switch obj := r.Object.(type) {
	case *rbacv1.Role:
		if old, ok := r.Old.(*rbacv1.Role); ok && equality.Semantic.DeepEqual(old.Rules, obj.Rules) {
			return nil
		}
		return p.rules(ctx, r, obj, obj.Rules)
	case *rbacv1.ClusterRole:
		return p.clusterRole(ctx, r, obj)
	case *rbacv1.RoleBinding:
		if old, ok := r.Old.(*rbacv1.RoleBinding); ok && old.RoleRef == obj.RoleRef && equality.Semantic.DeepEqual(old.Subjects, obj.Subjects) {
			return nil
		}
		return p.binding(ctx, r, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		if old, ok := r.Old.(*rbacv1.ClusterRoleBinding); ok && old.RoleRef == obj.RoleRef && equality.Semantic.DeepEqual(old.Subjects, obj.Subjects) {
			return nil
		}
		return p.binding(ctx, r, obj.RoleRef)
	}
	return nil
}

func (p RBACEscalation) clusterRole(ctx context.Context, r *Request, role *rbacv1.ClusterRole) error {
	old, _ := r.Old.(*rbacv1.ClusterRole)
	if old != nil && equality.Semantic.DeepEqual(old.Rules, role.Rules) && equality.Semantic.DeepEqual(old.AggregationRule, role.AggregationRule) {
		return nil
	}
	if role.AggregationRule != nil && (old == nil || !equality.Semantic.DeepEqual(old.AggregationRule, role.AggregationRule)) {
		all := []rbacv1.PolicyRule{
			{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
			{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
		}
		if ok, err := p.holds(ctx, r, all); err != nil || !ok {
			if err == nil {
				err = forbid(r, errors.New("must have cluster-admin privileges to use the aggregationRule"))
			}
			return err
		}
	}
	return p.rules(ctx, r, role, role.Rules)
}

func (p RBACEscalation) holds(ctx context.Context, r *Request, rules []rbacv1.PolicyRule) (bool, error) {
	policy, err := p.Policy(ctx)
	if err != nil {
		return false, status(err)
	}
	return policy.MayGrant(r.User, "", rules) == nil, nil
}

// rules checks a role whose rules are new or have changed.
func (p RBACEscalation) rules(ctx context.Context, r *Request, role metav1.Object, rules []rbacv1.PolicyRule) error {
	a := auth.Attributes{
		User: r.User, Verb: "escalate", Group: r.Resource.Group, Version: "*", Resource: r.Resource.Plural,
		Namespace: r.Namespace, Name: role.GetName(), IsResource: true,
	}
	return p.unless(ctx, r, a, func(policy *rbac.Policy) error { return policy.MayGrant(r.User, r.Namespace, rules) })
}

// binding checks a binding whose role or subjects are new or have changed.
func (p RBACEscalation) binding(ctx context.Context, r *Request, ref rbacv1.RoleRef) error {
	a := auth.Attributes{
		User: r.User, Verb: "bind", Group: rbacv1.GroupName, Version: "*",
		Namespace: r.Namespace, Name: ref.Name, IsResource: true,
	}
	switch ref.Kind {
	case "ClusterRole":
		a.Resource = "clusterroles"
	case "Role":
		a.Resource = "roles"
	}
	return p.unless(ctx, r, a, func(policy *rbac.Policy) error {
		rules, err := policy.Rules(ref, r.Namespace)
		if apierrors.IsNotFound(err) {
			return apierrors.NewNotFound(rbacv1.Resource(a.Resource), ref.Name)
		}
		if err != nil {
			return err
		}
		return policy.MayGrant(r.User, r.Namespace, rules)
	})
}

// unless runs check unless the user may do a.
func (p RBACEscalation) unless(ctx context.Context, r *Request, a auth.Attributes, check func(*rbac.Policy) error) error {
	if d, _, _ := p.Authorizer.Authorize(ctx, a); d == auth.Allow {
		return nil
	}
	policy, err := p.Policy(ctx)
	if err != nil {
		return status(err)
	}
	err = check(policy)
	var lacks *rbac.Escalation
	if errors.As(err, &lacks) {
		return forbid(r, lacks)
	}
	if err != nil {
		return status(err)
	}
	return nil
}
