package review

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/internal/server/auth/token"
)

// Func completes a review created by user u in the namespace ("" for cluster-scoped kinds). It may modify and
// return obj. Errors are status errors.
type Func func(ctx context.Context, u *auth.User, namespace string, obj runtime.Object) (runtime.Object, error)

// Deps are the dependencies of the reviews.
type Deps struct {
	Authorizer auth.Authorizer
	// Types returns the types of the authorizers that are asked, in order.
	Types func() []string
	// ABAC returns the rules of a user in a namespace by which the authorizer ABAC allows requests, if it is asked.
	ABAC func(u *auth.User, namespace string) []rbacv1.PolicyRule
	// Policy returns the RBAC policy.
	Policy func(context.Context) (*rbac.Policy, error)
	// Tokens verifies reviewed tokens.
	Tokens token.Verifier
}

// All returns the reviews by resource.
func All(d Deps) map[schema.GroupResource]Func {
	authn := func(r string) schema.GroupResource {
		return schema.GroupResource{Group: "authentication.k8s.io", Resource: r}
	}
	authz := func(r string) schema.GroupResource {
		return schema.GroupResource{Group: "authorization.k8s.io", Resource: r}
	}
	return map[schema.GroupResource]Func{
		authn("tokenreviews"):              typed(d.tokenReview),
		authn("selfsubjectreviews"):        typed(d.selfSubjectReview),
		authz("subjectaccessreviews"):      typed(d.subjectAccessReview),
		authz("localsubjectaccessreviews"): typed(d.localSubjectAccessReview),
		authz("selfsubjectaccessreviews"):  typed(d.selfSubjectAccessReview),
		authz("selfsubjectrulesreviews"):   typed(d.selfSubjectRulesReview),
	}
}

// typed adapts a function of one kind to a Func.
func typed[T runtime.Object](f func(ctx context.Context, u *auth.User, namespace string, obj T) error) Func {
	return func(ctx context.Context, u *auth.User, namespace string, obj runtime.Object) (runtime.Object, error) {
		t, ok := obj.(T)
		if !ok {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("not a %T: %T", *new(T), obj))
		}
		if u == nil {
			return nil, apierrors.NewBadRequest("no user present on request")
		}
		if err := f(ctx, u, namespace, t); err != nil {
			return nil, err
		}
		return t, nil
	}
}
