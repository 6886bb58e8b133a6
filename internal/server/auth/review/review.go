package review

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/internal/server/auth/token"
)

// Func answers a review that user u created in the namespace ("" for the kinds
// that have none). It may change obj and return it. Errors are status errors.
type Func func(ctx context.Context, u *auth.User, namespace string, obj runtime.Object) (runtime.Object, error)

// Deps are what reviews are answered from.
type Deps struct {
	Authorizer auth.Authorizer
	// Policy tells a user's rules; nil if there is no RBAC.
	Policy func(context.Context) (*rbac.Policy, error)
	// Tokens reads the tokens to be reviewed.
	Tokens token.Verifier
}

// All are the reviews by resource.
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

// typed turns a function of one kind into a Func.
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
