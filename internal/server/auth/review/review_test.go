package review_test

import (
	"context"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/internal/server/auth/review"
	"fairlead.dev/internal/server/auth/token"
)

var ann = &auth.User{Name: "ann", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v"}}}

func reviews() map[schema.GroupResource]review.Func {
	policy := rbac.NewPolicy(rbac.Objects{
		ClusterRoles: []*rbacv1.ClusterRole{{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			Rules: []rbacv1.PolicyRule{
				{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods", "pods/log"}},
				{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}},
			},
		}},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{{
			RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "reader"}, Subjects: []rbacv1.Subject{{Kind: "Group", Name: "dev"}},
		}},
	})
	return review.All(review.Deps{
		Authorizer: auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
			ok, reason := policy.Authorize(a)
			return auth.AllowIf(ok), reason, nil
		}),
		Types:  func() []string { return []string{chain.Node, chain.RBAC} },
		Policy: func(context.Context) (*rbac.Policy, error) { return policy, nil },
		Tokens: secret{},
	})
}

// secret verifies the token "secret", which is ann's for all audiences.
type secret struct{}

func (secret) Verify(_ context.Context, text string, audiences []string) (*token.Identity, error) {
	if text != "secret" {
		return nil, nil
	}
	return &token.Identity{User: auth.Authenticated(ann), Audiences: audiences}, nil
}

func ask(t *testing.T, resource, namespace string, obj runtime.Object) (runtime.Object, error) {
	t.Helper()
	group := "authorization.k8s.io"
	switch obj.(type) {
	case *authenticationv1.TokenReview, *authenticationv1.SelfSubjectReview:
		group = "authentication.k8s.io"
	}
	f := reviews()[schema.GroupResource{Group: group, Resource: resource}]
	if f == nil {
		t.Fatalf("no %s", resource)
	}
	return f(context.Background(), ann, namespace, obj)
}

func TestAccess(t *testing.T) {
	attributes := func(verb, resource, sub string) *authorizationv1.ResourceAttributes {
		return &authorizationv1.ResourceAttributes{Namespace: "x", Verb: verb, Resource: resource, Subresource: sub}
	}
	dev := authorizationv1.SubjectAccessReviewSpec{Groups: []string{"dev"}}
	with := func(s authorizationv1.SubjectAccessReviewSpec, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewSpec {
		s.ResourceAttributes, s.NonResourceAttributes = r, n
		return s
	}
	path := &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/x"}
	for _, c := range []struct {
		name    string
		spec    authorizationv1.SubjectAccessReviewSpec
		allowed bool
		invalid bool
	}{
		{"a yes", with(dev, attributes("get", "pods", ""), nil), true, false},
		{"a subresource", with(dev, attributes("get", "pods", "log"), nil), true, false},
		{"a no", with(dev, attributes("delete", "pods", ""), nil), false, false},
		{"a path", with(dev, nil, path), true, false},
		{"neither", dev, false, true},
		{"both", with(dev, attributes("get", "pods", ""), path), false, true},
		{"nobody", with(authorizationv1.SubjectAccessReviewSpec{}, nil, path), false, true},
	} {
		out, err := ask(t, "subjectaccessreviews", "", &authorizationv1.SubjectAccessReview{Spec: c.spec})
		if apierrors.IsInvalid(err) != c.invalid || !c.invalid && (err != nil || out.(*authorizationv1.SubjectAccessReview).Status.Allowed != c.allowed) {
			t.Errorf("%s: %+v %v", c.name, out, err)
		}
	}

	self := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes("get", "pods", "")}}
	if out, err := ask(t, "selfsubjectaccessreviews", "", self); err != nil || !out.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed {
		t.Errorf("self: %v %v", out, err)
	}
	local := func() *authorizationv1.LocalSubjectAccessReview {
		return &authorizationv1.LocalSubjectAccessReview{Spec: with(dev, attributes("get", "pods", ""), nil)}
	}
	if out, err := ask(t, "localsubjectaccessreviews", "x", local()); err != nil || !out.(*authorizationv1.LocalSubjectAccessReview).Status.Allowed {
		t.Errorf("local: %v %v", out, err)
	}
	if _, err := ask(t, "localsubjectaccessreviews", "y", local()); !apierrors.IsInvalid(err) {
		t.Errorf("local about another namespace: %v", err)
	}
}

func TestRules(t *testing.T) {
	out, err := ask(t, "selfsubjectrulesreviews", "", &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	s := out.(*authorizationv1.SelfSubjectRulesReview).Status
	if len(s.ResourceRules) != 1 || s.ResourceRules[0].Resources[1] != "pods/log" || len(s.NonResourceRules) != 1 || s.Incomplete {
		t.Errorf("rules are %+v", s)
	}
	if _, err := ask(t, "selfsubjectrulesreviews", "", &authorizationv1.SelfSubjectRulesReview{}); !apierrors.IsBadRequest(err) {
		t.Errorf("no namespace: %v", err)
	}
}

func TestAuthentication(t *testing.T) {
	good := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "secret"}}
	if _, err := ask(t, "tokenreviews", "", good); err != nil || !good.Status.Authenticated || good.Status.User.Username != "ann" || good.Status.User.Extra["k"][0] != "v" {
		t.Errorf("a good token: %+v %v", good.Status, err)
	}
	bad := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "wrong"}, Status: good.Status}
	if _, err := ask(t, "tokenreviews", "", bad); err != nil || bad.Status.Authenticated || bad.Status.Error == "" || bad.Status.User.Username != "" {
		t.Errorf("a wrong token: %+v %v", bad.Status, err)
	}
	if _, err := ask(t, "tokenreviews", "", &authenticationv1.TokenReview{}); !apierrors.IsBadRequest(err) {
		t.Errorf("no token: %v", err)
	}
	who := &authenticationv1.SelfSubjectReview{}
	if _, err := ask(t, "selfsubjectreviews", "", who); err != nil || who.Status.UserInfo.UID != "7" {
		t.Errorf("who am I: %+v %v", who.Status, err)
	}
}
