package controlplane_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	clienthistory "fairlead.dev/internal/client/history"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/history"
	"fairlead.dev/trace"
)

// pasts reads the histories of Secrets as different users.
type pasts struct {
	*testing.T
	cp *controlplane.ControlPlane
}

func (p pasts) as(user string) *client.Client {
	p.Helper()
	config := p.cp.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{})
	if err != nil {
		p.Fatal(err)
	}
	return c
}

func (p pasts) read(user, namespace, name string) (history.Page, error) {
	p.Helper()
	r := clienthistory.Reader{Client: p.as(user), Namespace: namespace, Name: name, Objects: true}
	r.Resource.GVR, r.Resource.Namespaced = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, true
	return r.Page(p.Context(), 0, 0)
}

// allow gives a user verbs on Secrets in a namespace, and waits until they are in effect.
func (p pasts) allow(user, namespace string, verbs ...string) {
	p.Helper()
	admin, name := p.as(""), user+"-"+strings.Join(verbs, "-")
	if _, err := client.For[*rbacv1.Role](admin).Namespace(namespace).Create(p.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{""}, Resources: []string{"secrets"}}},
	}); err != nil {
		p.Fatal(err)
	}
	if _, err := client.For[*rbacv1.RoleBinding](admin).Namespace(namespace).Create(p.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}); err != nil {
		p.Fatal(err)
	}
	for {
		_, err := client.For[*corev1.Secret](p.as(user)).Namespace(namespace).Get(p.Context(), "no-such-secret")
		if !apierrors.IsForbidden(err) {
			return
		}
		if p.Context().Err() != nil {
			p.Fatal(err)
		}
	}
}

func (p pasts) write(namespace, name string, values ...string) {
	p.Helper()
	secrets := client.For[*corev1.Secret](p.as("")).Namespace(namespace)
	s, err := secrets.Create(p.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"v": values[0]}})
	for _, v := range values[1:] {
		if err != nil {
			p.Fatal(err)
		}
		s = s.DeepCopy()
		s.Data["v"] = []byte(v)
		s, err = secrets.Update(p.Context(), s)
	}
	if err != nil {
		p.Fatal(err)
	}
}

func (p pasts) remove(namespace, name string) {
	p.Helper()
	if err := client.For[*corev1.Secret](p.as("")).Namespace(namespace).Delete(p.Context(), name, metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
}

// values are the values of a page's states, "-" for a deletion.
func (p pasts) values(page history.Page) (all []string) {
	p.Helper()
	for i := range page.States {
		o, err := page.States[i].Decode()
		if err != nil {
			p.Fatal(err)
		}
		if o == nil {
			all = append(all, "-")
			continue
		}
		all = append(all, o["data"].(map[string]any)["v"].(string))
	}
	return all
}

func (p pasts) want(user, namespace, name, withheld string, values ...string) {
	p.Helper()
	page, err := p.read(user, namespace, name)
	if got := p.values(page); err != nil || !slices.Equal(got, values) || !strings.Contains(page.Withheld, withheld) || (withheld == "") != (page.Withheld == "") {
		p.Errorf("the history of %s/%s for %q: %q, withheld %q, %v; want %q, withheld %q", namespace, name, user, got, page.Withheld, err, values, withheld)
	}
}

// TestHistoryRights: a history has no state that its reader could not read otherwise.
func TestHistoryRights(t *testing.T) {
	p := pasts{t, controlplanetest.Start(t, controlplane.Options{Controllers: []string{"namespace"}, Trace: trace.New(trace.Options{})})}
	admin := p.as("")
	namespaces := client.For[*corev1.Namespace](admin)
	makeNamespace := func(name string) {
		t.Helper()
		if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	makeNamespace("ours")
	makeNamespace("theirs")
	// Values are base64: MQ== is 1, Mg== 2, and so on.
	p.write("ours", "s", "1", "2")
	p.write("theirs", "s", "3")
	for _, namespace := range []string{"ours", "theirs"} {
		if _, err := p.read("ann", namespace, "s"); !apierrors.IsForbidden(err) {
			t.Errorf("the history of %s/s without rights: %v", namespace, err)
		}
	}
	p.allow("ann", "ours", "get")
	p.want("ann", "ours", "s", "", "Mg==", "MQ==")
	if _, err := p.read("ann", "theirs", "s"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot get resource "secrets"`) {
		t.Errorf("the history in another namespace: %v", err)
	}

	// A former object of the name needs list.
	p.remove("ours", "s")
	p.want("ann", "ours", "s", "need list")
	p.write("ours", "s", "4")
	p.want("ann", "ours", "s", "need list", "NA==")
	p.allow("bob", "ours", "get", "list")
	p.want("bob", "ours", "s", "", "NA==", "-", "Mg==", "MQ==")

	// A former namespace of the name needs list everywhere.
	if err := namespaces.Delete(t.Context(), "ours", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := namespaces.Get(t.Context(), "ours"); apierrors.IsNotFound(err) {
			break
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.read("bob", "ours", "s"); !apierrors.IsForbidden(err) {
		t.Errorf("the history in a deleted namespace: %v", err)
	}
	makeNamespace("ours")
	p.allow("bob", "ours", "get", "list")
	p.want("bob", "ours", "s", "in all namespaces")
	p.write("ours", "s", "5")
	p.want("bob", "ours", "s", "in all namespaces", "NQ==")
	p.want("", "ours", "s", "", "NQ==", "-", "NA==", "-", "Mg==", "MQ==")
}

// TestHistoryPages: the pages of a history join without gaps, and name the author of each state.
func TestHistoryPages(t *testing.T) {
	p := pasts{t, controlplanetest.Start(t, controlplane.Options{Controllers: []string{}, Trace: trace.New(trace.Options{})})}
	p.write("default", "s", "1", "2", "3", "4", "5")
	r := clienthistory.Reader{Client: p.as(""), Namespace: "default", Name: "s"}
	r.Resource.GVR, r.Resource.Namespaced = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, true
	var all []history.State
	before, pages := int64(0), 0
	for pages == 0 || before > 0 {
		page, err := r.Page(t.Context(), before, 2)
		if err != nil || page.Kind != "Secret" || page.APIVersion != "v1" || page.Resource != "secrets" {
			t.Fatalf("%+v, %v", page, err)
		}
		all, before = append(all, page.States...), page.Before
		pages++
	}
	if len(all) != 5 || pages != 3 {
		t.Fatalf("%d states in %d pages: %+v", len(all), pages, all)
	}
	for i, s := range all {
		kind, verb := history.Modified, "update"
		if i == 4 {
			kind, verb = history.Added, "create"
		}
		if s.Type != kind || s.Verb != verb || !s.Recorded || s.User != "kubernetes-admin" || s.Time.IsZero() || !s.After.IsZero() || s.Object != nil ||
			i < 4 && !slices.Equal(s.Fields, []string{"data.v"}) || i > 0 && s.Revision >= all[i-1].Revision {
			t.Errorf("state %d: %+v", i, s)
		}
	}
	for query, code := range map[string]int32{
		"resource=secrets&namespace=default": 400, "name=s": 400, "resource=secrets&name=s": 400, "resource=secrets&namespace=default&name=..": 400,
		"resource=secrets&namespace=default&name=s&limit=0": 400, "resource=secrets&namespace=default&name=s&limit=1001": 400,
		"resource=secrets&namespace=default&name=s&before=x": 400, "resource=secrets&namespace=default&name=s&objects=x": 400,
		"resource=secrets&namespace=default&name=none": 404, "resource=wonders&namespace=default&name=s": 404, "resource=secrets&version=v2&namespace=default&name=s": 404,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.as("").REST().Do(t.Context(), client.Request{Path: history.Path, Query: q})
		if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != code {
			t.Errorf("%s: %v, want %d", query, err, code)
		}
	}
}
