package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"fairlead.dev/client"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reader returns a login link for a user with rights to read alone.
func (b *fixture) reader(t *testing.T) (path string) {
	t.Helper()
	const user = "reader"
	roles := client.For[*rbacv1.ClusterRole](b.client)
	if _, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "page"}, Rules: []rbacv1.PolicyRule{
		{NonResourceURLs: []string{"/ui/links"}, Verbs: []string{"post"}},
		{NonResourceURLs: []string{"/debug/*", "/metrics"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"page", "view"} {
		if _, err := client.For[*rbacv1.ClusterRoleBinding](b.client).Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role + "-" + user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := b.client.As(user).REST().Do(t.Context(), client.Request{Method: "POST", Path: "/ui/links"})
	if err != nil {
		t.Fatal(err)
	}
	var link struct{ Path string }
	if err := json.Unmarshal(res.Body, &link); err != nil {
		t.Fatal(err)
	}
	return link.Path
}

// readOnly: a user with rights to read alone is offered no action, no edit, no terminal and no faults, and the server refuses
// them too.
func (b *fixture) readOnly(t *testing.T) {
	link := b.reader(t)
	pod := b.pod(t, "app=web")
	b.open(t, "#/object/pods/default/"+pod+"?part=yaml")
	b.until(t, `['ports', 'evict', 'delete'].every((a) => document.querySelector('.actions [data-action=' + a + ']')) && document.querySelector('[data-action=edit]')?.checkVisibility() && document.querySelector('[data-part=terminal]').checkVisibility()`)

	b.enter(t, b.cp.URL()+link)
	b.until(t, `document.querySelector('#leave').title === 'Log out reader'`)
	for _, place := range []string{"#/object/pods/default/" + pod + "?part=yaml", webAddress + "?part=yaml"} {
		b.do(t, evaluate(`(window.asked = performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/selfsubjectaccessreviews')).length)`))
		b.open(t, place)
		b.until(t, `document.querySelector('.yaml') && performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/selfsubjectaccessreviews')).length > window.asked + 3`)
		if get[bool](t, b, `document.querySelector('.actions [data-action]') !== null || document.querySelector('[data-action=edit]').checkVisibility() || document.querySelector('[data-part=terminal]').checkVisibility()`) {
			t.Error("a reader is offered: ", get[string](t, b, `document.querySelector('.object').innerText`))
		}
	}
	b.open(t, "#/object/pods/default/"+pod)
	b.until(t, `document.querySelector('[data-part=logs]').checkVisibility()`) // which readers may read
	b.open(t, "#/faults")
	b.until(t, `document.querySelector('main').textContent === 'You may not inject faults into this server.'`)
	if get[bool](t, b, `document.querySelector('#tabs [data-view=faults]') !== null`) {
		t.Error("a reader is offered faults")
	}
	for _, x := range []struct{ method, path string }{{"DELETE", "/api/v1/namespaces/default/pods/" + pod}, {"POST", "/debug/faults"}, {"DELETE", "/debug/faults"}} {
		if code := b.status(t, x.method, x.path); code != 403 {
			t.Errorf("the server answers a reader's %s %s with %d", x.method, x.path, code)
		}
	}
}

// status is the code of the server's answer to a request by the page's user.
func (b *fixture) status(t *testing.T, method, path string) int {
	t.Helper()
	return get[int](t, b, fmt.Sprintf(`(() => { const x = new XMLHttpRequest(); x.open(%q, %q, false); x.setRequestHeader('X-Fairlead-Page', '1'); x.send(); return x.status })()`, method, path))
}
