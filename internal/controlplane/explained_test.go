package controlplane_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/trace/why"
	"fairlead.dev/trace"
)

// TestExplainedObject: the server explains an object only to users with the right to read
// it, and uses only objects that the user may read.
func TestExplainedObject(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Trace: trace.New(trace.Options{})})
	as := func(user string) *client.Client {
		t.Helper()
		config := cp.Config()
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
		c, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ask := func(c *client.Client, resource, namespace, name string) (a why.Explanation, err error) {
		res, err := c.REST().Do(t.Context(), client.Request{Path: why.Path, Query: map[string][]string{"resource": {resource}, "namespace": {namespace}, "name": {name}}})
		if err != nil {
			return a, err
		}
		return a, json.Unmarshal(res.Body, &a)
	}
	admin := as("")
	if _, err := client.For[*corev1.ConfigMap](admin).Namespace("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "plain", Finalizers: []string{"example.com/never"}}}); err != nil {
		t.Fatal(err)
	}
	if err := client.For[*corev1.ConfigMap](admin).Namespace("default").Delete(t.Context(), "plain", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	a, err := ask(admin, "configmaps", "default", "plain")
	if err != nil || a.Resource != "configmaps" || !a.Waits || len(a.Reasons) < 2 {
		t.Errorf("%+v %v", a, err)
	}
	text, err := admin.REST().Do(t.Context(), client.Request{Path: why.Path, Query: map[string][]string{"resource": {"configmaps"}, "namespace": {"default"}, "name": {"plain"}}, Accept: "text/plain, */*"})
	if err != nil || !strings.HasPrefix(string(text.Body), "ConfigMap default/plain ") {
		t.Errorf("as text: %s %v", text.Body, err)
	}
	for _, x := range []struct{ resource, namespace, name string }{{"configmaps", "default", "missing"}, {"wonders", "default", "plain"}} {
		if _, err := ask(admin, x.resource, x.namespace, x.name); !apierrors.IsNotFound(err) {
			t.Errorf("%v: %v", x, err)
		}
	}
	for _, x := range []struct{ resource, namespace, name string }{{"", "default", "plain"}, {"configmaps", "default", ""}, {"configmaps", "default", ".."}, {"configmaps", "../default", "plain"}} {
		if _, err := ask(admin, x.resource, x.namespace, x.name); !apierrors.IsBadRequest(err) {
			t.Errorf("%v: %v", x, err)
		}
	}

	// A user with rights on the path and the object, but not on /debug/lives, gets no
	// observations.
	if _, err := ask(as("ann"), "configmaps", "default", "plain"); !apierrors.IsForbidden(err) {
		t.Errorf("a user without any rights: %v", err)
	}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{why.Path}}}
	roles := client.For[*rbacv1.ClusterRole](admin)
	role, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "asks"}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*rbacv1.ClusterRoleBinding](admin).Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "asks"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "asks"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "ann"}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(as("ann"), "configmaps", "default", "plain"); !apierrors.IsForbidden(err) {
		t.Errorf("a user who may not get the object: %v", err)
	}
	role.Rules = append(rules, rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}})
	if _, err := roles.Update(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	for a, err = ask(as("ann"), "configmaps", "default", "plain"); apierrors.IsForbidden(err) && t.Context().Err() == nil; { // until the authorizer has the new role
		a, err = ask(as("ann"), "configmaps", "default", "plain")
	}
	if err != nil || !a.Waits || len(a.Observations) > 0 {
		t.Errorf("a user who may get the object: %+v %v", a, err)
	}
}
