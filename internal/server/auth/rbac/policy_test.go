package rbac_test

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
)

func rule(verbs, groups, resources string, names ...string) rbacv1.PolicyRule {
	list := func(s string) []string { return strings.Split(s, ",") }
	return rbacv1.PolicyRule{Verbs: list(verbs), APIGroups: list(groups), Resources: list(resources), ResourceNames: names}
}

func paths(verbs string, urls ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Split(verbs, ","), NonResourceURLs: urls}
}

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func role(namespace, name string, rules ...rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Rules: rules}
}

func user(name string) rbacv1.Subject  { return rbacv1.Subject{Kind: "User", Name: name} }
func group(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }
func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

func everywhere(role string, to ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b-" + role}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}, Subjects: to}
}

func in(namespace, kind, role string, to ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b-" + role, Namespace: namespace}, RoleRef: rbacv1.RoleRef{Kind: kind, Name: role}, Subjects: to}
}

func world() rbac.Objects {
	part := func(name, into string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
		r := clusterRole(name, rules...)
		r.Labels = map[string]string{"into": into}
		return r
	}
	whole := func(name, from string) *rbacv1.ClusterRole {
		r := clusterRole(name)
		r.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"into": from}}}}
		return r
	}
	outer := whole("outer", "outer")
	inner := whole("inner", "inner")
	inner.Labels = map[string]string{"into": "outer"}
	return rbac.Objects{
		ClusterRoles: []*rbacv1.ClusterRole{
			clusterRole("reader", rule("get,list", "", "pods,pods/log")),
			clusterRole("status", rule("update", "*", "*/status")),
			clusterRole("one", rule("get,update", "", "configmaps", "settings")),
			clusterRole("health", paths("get", "/healthz", "/healthz/*", "/metrics")),
			clusterRole("all", rule("*", "*", "*"), paths("*", "*")),
			outer, inner, part("leaf", "inner", rule("watch", "apps", "deployments")),
		},
		Roles: []*rbacv1.Role{role("shop", "writer", rule("create", "", "pods"))},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{
			everywhere("reader", user("ann"), group("readers")),
			everywhere("status", user("kubelet")),
			everywhere("one", user("ann")),
			everywhere("health", group("system:unauthenticated")),
			everywhere("all", user("root")),
			everywhere("outer", user("mix")),
			everywhere("gone", user("lost")),
		},
		RoleBindings: []*rbacv1.RoleBinding{
			in("shop", "Role", "writer", user("bob"), account("", "robot"), account("ci", "robot")),
			in("shop", "ClusterRole", "reader", user("bob")),
		},
	}
}

func TestAuthorize(t *testing.T) {
	p := rbac.NewPolicy(world())
	at := func(who, verb, group, resource, namespace, name string) auth.Attributes {
		resource, sub, _ := strings.Cut(resource, "/")
		return auth.Attributes{User: &auth.User{Name: who}, Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace, Name: name, IsResource: true}
	}
	url := func(who, verb, path string, groups ...string) auth.Attributes {
		return auth.Attributes{User: &auth.User{Name: who, Groups: groups}, Verb: verb, Path: path}
	}
	inGroup := at("zoe", "get", "", "pods", "x", "p")
	inGroup.User.Groups = []string{"readers"}
	for _, c := range []struct {
		ask  auth.Attributes
		want bool
	}{
		{at("ann", "get", "", "pods", "x", "p"), true},
		{at("ann", "list", "", "pods", "", ""), true},
		{at("ann", "get", "", "pods/log", "x", "p"), true},
		{at("ann", "get", "", "pods/status", "x", "p"), false},
		{at("ann", "create", "", "pods", "x", ""), false},
		{at("ann", "get", "apps", "pods", "x", "p"), false},
		{inGroup, true},
		{at("zoe", "get", "", "pods", "x", "p"), false},
		{at("kubelet", "update", "", "pods/status", "x", "p"), true},
		{at("kubelet", "update", "apps", "deployments/status", "x", "p"), true},
		{at("kubelet", "update", "", "pods", "x", "p"), false},
		{at("ann", "get", "", "configmaps", "x", "settings"), true},
		{at("ann", "get", "", "configmaps", "x", "other"), false},
		{at("ann", "get", "", "configmaps", "x", ""), false},
		{at("bob", "create", "", "pods", "shop", ""), true},
		{at("bob", "create", "", "pods", "x", ""), false},
		{at("bob", "list", "", "pods", "shop", ""), true},
		{at("bob", "list", "", "pods", "", ""), false},
		{at("system:serviceaccount:shop:robot", "create", "", "pods", "shop", ""), true},
		{at("system:serviceaccount:ci:robot", "create", "", "pods", "shop", ""), true},
		{at("system:serviceaccount:x:robot", "create", "", "pods", "shop", ""), false},
		{at("root", "escalate", "any", "thing/sub", "x", "n"), true},
		{at("mix", "watch", "apps", "deployments", "x", ""), true},
		{at("mix", "get", "apps", "deployments", "x", ""), false},
		{url("system:anonymous", "get", "/healthz", "system:unauthenticated"), true},
		{url("system:anonymous", "get", "/healthz/ping", "system:unauthenticated"), true},
		{url("system:anonymous", "get", "/metrics/slis", "system:unauthenticated"), false},
		{url("system:anonymous", "post", "/healthz", "system:unauthenticated"), false},
		{url("ann", "get", "/healthz"), false},
		{url("root", "delete", "/any"), true},
	} {
		if got, reason := p.Authorize(c.ask); got != c.want {
			t.Errorf("%s: %v (%s)", auth.ForbiddenMessage(c.ask, ""), got, reason)
		}
	}
}

func TestReasons(t *testing.T) {
	p := rbac.NewPolicy(world())
	ask := auth.Attributes{User: &auth.User{Name: "ann"}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	if _, why := p.Authorize(ask); why != `RBAC: allowed by ClusterRoleBinding "b-reader" of ClusterRole "reader" to User "ann"` {
		t.Errorf("a yes: %s", why)
	}
	ask.User = &auth.User{Name: "bob"}
	ask.Namespace = "shop"
	if _, why := p.Authorize(ask); why != `RBAC: allowed by RoleBinding "b-reader/shop" of ClusterRole "reader" to User "bob"` {
		t.Errorf("a yes in a namespace: %s", why)
	}
	ask.User = &auth.User{Name: "lost"}
	if _, why := p.Authorize(ask); why != `RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found` {
		t.Errorf("a binding without its role: %s", why)
	}
	ask.User = &auth.User{Name: "nobody"}
	ask.Verb, ask.Namespace = "list", "default"
	if _, why := p.Authorize(ask); why != "" {
		t.Errorf("a plain no: %s", why)
	}
	want := `pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "default"`
	if got := auth.Forbidden(ask, "").ErrStatus; got.Message != want || got.Code != 403 {
		t.Errorf("403 says %q", got.Message)
	}
}

func TestMayGrant(t *testing.T) {
	p := rbac.NewPolicy(world())
	ann, bob, root := &auth.User{Name: "ann"}, &auth.User{Name: "bob", Groups: []string{"dev"}}, &auth.User{Name: "root"}
	for _, c := range []struct {
		who       *auth.User
		namespace string
		rule      rbacv1.PolicyRule
		missing   string
	}{
		{ann, "", rule("get", "", "pods"), ""},
		{ann, "", rule("get", "", "pods", "only-this"), ""},
		{ann, "", rule("get", "", "configmaps", "settings"), ""},
		{ann, "", rule("get", "", "configmaps"), `{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}`},
		{ann, "", rule("get,delete,create", "", "pods"), `{APIGroups:[""], Resources:["pods"], Verbs:["delete" "create"]}`},
		{ann, "", rule("*", "", "pods"), `{APIGroups:[""], Resources:["pods"], Verbs:["*"]}`},
		{bob, "shop", rule("create", "", "pods"), ""},
		{bob, "x", rule("create", "", "pods"), `{APIGroups:[""], Resources:["pods"], Verbs:["create"]}`},
		{root, "", rule("*", "*", "*"), ""},
		{root, "", paths("*", "*"), ""},
		{ann, "", paths("get", "/x"), `{NonResourceURLs:["/x"], Verbs:["get"]}`},
	} {
		err := p.MayGrant(c.who, c.namespace, []rbacv1.PolicyRule{c.rule})
		if (err == nil) != (c.missing == "") || err != nil && !strings.HasSuffix(err.Error(), "not currently held:\n"+c.missing) {
			t.Errorf("%s grants %s in %q: %v", c.who.Name, rbac.Describe(c.rule), c.namespace, err)
		}
	}
}

func BenchmarkAuthorize(b *testing.B) {
	p := rbac.NewPolicy(world())
	ask := auth.Attributes{User: &auth.User{Name: "ann", Groups: []string{"system:authenticated"}}, Verb: "get", Resource: "pods", Namespace: "x", IsResource: true}
	b.ReportAllocs()
	for b.Loop() {
		p.Authorize(ask)
	}
}
