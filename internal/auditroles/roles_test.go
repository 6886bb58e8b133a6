package auditroles_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"fairlead.dev/internal/auditroles"
)

// line returns an event of a request for an object, given as NAMESPACE/RESOURCE/NAME.
func line(t *testing.T, user, verb, object string, change ...func(*auditv1.Event)) string {
	t.Helper()
	parts := strings.Split(object, "/")
	e := &auditv1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "audit.k8s.io/v1", Kind: "Event"}, Level: auditv1.LevelMetadata, Verb: verb,
		User:      authenticationv1.UserInfo{Username: user, Groups: []string{"system:authenticated"}},
		ObjectRef: &auditv1.ObjectReference{Namespace: parts[0], Resource: parts[1], Name: parts[2]},
	}
	for _, f := range change {
		f(e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func read(t *testing.T, lines ...string) *auditroles.Log {
	t.Helper()
	log := &auditroles.Log{}
	if err := log.Read(strings.NewReader(strings.Join(lines, ""))); err != nil {
		t.Fatal(err)
	}
	return log
}

// rulesOf returns the rules of the roles of a user, by namespace.
func rulesOf(t *testing.T, log *auditroles.Log, user string, o auditroles.Options) map[string][]rbacv1.PolicyRule {
	t.Helper()
	objects, err := log.Roles(user, o)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, obj := range objects {
		switch obj := obj.(type) {
		case *rbacv1.ClusterRole:
			rules[""] = obj.Rules
		case *rbacv1.Role:
			rules[obj.Namespace] = obj.Rules
		}
	}
	return rules
}

func rule(verbs, resources string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: strings.Fields(resources), Verbs: strings.Fields(verbs), ResourceNames: names}
}

// TestMerge: equal verbs share a rule, names are kept, and a rule that another one covers is left out.
func TestMerge(t *testing.T) {
	log := read(t,
		line(t, "jane", "get", "shop/configmaps/b"), line(t, "jane", "get", "shop/configmaps/a"), line(t, "jane", "get", "shop/configmaps/a"),
		line(t, "jane", "list", "shop/services/"), line(t, "jane", "list", "shop/endpoints/"),
		line(t, "jane", "create", "shop/secrets/made"),
		line(t, "jane", "get", "/nodes/n"), line(t, "jane", "list", "/pods/"), line(t, "jane", "list", "shop/pods/"), line(t, "jane", "watch", "shop/pods/"),
		line(t, "jane", "patch", "till/configmaps/new", func(e *auditv1.Event) { e.ResponseStatus = &metav1.Status{Code: 201} }),
		line(t, "root", "get", "shop/configmaps/a", func(e *auditv1.Event) { e.User.Groups = []string{"system:masters"} }),
	)
	want := map[string][]rbacv1.PolicyRule{
		"": {rule("get", "nodes", "n"), rule("list", "pods")},
		"shop": {
			rule("get", "configmaps", "a", "b"), rule("list", "endpoints services"), rule("watch", "pods"), rule("create", "secrets"),
		},
		"till": {rule("create patch", "configmaps", "new")},
	}
	if diff := cmp.Diff(want, rulesOf(t, log, "jane", auditroles.Options{})); diff != "" {
		t.Error(diff)
	}
	if got := rulesOf(t, log, "jane", auditroles.Options{AnyName: true})["shop"][0]; cmp.Diff(rule("get", "configmaps"), got) != "" {
		t.Errorf("without names: %+v", got)
	}
	if got := log.Users(); !slices.Equal(got, []string{"jane"}) {
		t.Errorf("the users are %q", got)
	}
}

// TestImpersonation: the user needs the right to impersonate, and the other one that of the request.
func TestImpersonation(t *testing.T) {
	log := read(t, line(t, "jane", "get", "shop/configmaps/a", func(e *auditv1.Event) {
		e.ImpersonatedUser = &authenticationv1.UserInfo{Username: "system:serviceaccount:shop:till", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}}
	}))
	if diff := cmp.Diff(map[string][]rbacv1.PolicyRule{"shop": {rule("impersonate", "serviceaccounts", "till")}}, rulesOf(t, log, "jane", auditroles.Options{})); diff != "" {
		t.Error(diff)
	}
	objects, err := log.Roles("system:serviceaccount:shop:till", auditroles.Options{Name: "till"})
	if err != nil {
		t.Fatal(err)
	}
	want := []runtime.Object{
		&rbacv1.Role{
			TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}, ObjectMeta: metav1.ObjectMeta{Name: "till", Namespace: "shop"},
			Rules: []rbacv1.PolicyRule{rule("get", "configmaps", "a")},
		},
		&rbacv1.RoleBinding{
			TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}, ObjectMeta: metav1.ObjectMeta{Name: "till", Namespace: "shop"},
			RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "till"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "shop", Name: "till"}},
		},
	}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Error(diff)
	}
}

// TestReadErrors has text that is no audit log.
func TestReadErrors(t *testing.T) {
	for _, text := range []string{"2026-11-26 AUDIT: id=x", `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"Event","apiVersion":"v1"}`} {
		err := (&auditroles.Log{}).Read(strings.NewReader("\n" + text))
		if err == nil || err.Error() != "line 2 is no event of an audit log in JSON" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
