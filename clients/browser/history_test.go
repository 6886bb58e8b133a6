package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/ui"
)

// TestHistory looks at a Deployment's states over time, compares two of them, blames its fields, and
// goes back to a state by the page.
func TestHistory(t *testing.T) {
	b := newFixture(t)
	made, scaled := b.story(t, 4)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/'`)
	b.open(t, "#/object/deployments.apps/default/web?part=history")
	b.until(t, `document.querySelectorAll('.timeline > li').length > 4 && document.querySelector('.axis .state')`)
	b.until(t, `document.querySelector('[aria-label=History] > p').textContent.includes('states · since')`)

	// The two states that a person made stand above the others, as one if they are close.
	b.until(t, `[1, 2].includes(document.querySelectorAll('.axis circle.state').length)`)
	all := get[int](t, b, `document.querySelectorAll('.timeline > li').length`)
	b.do(t, chromedp.Click(`.axistools button[aria-label="Zoom in"]`), chromedp.Click(`.axistools button[aria-label="Zoom in"]`))
	b.until(t, `document.querySelectorAll('.timeline > li').length < %d && !document.querySelector('.axistools button[title="All states"]').disabled`, all)
	b.do(t, chromedp.Click(`.axistools button[title="All states"]`))
	b.until(t, `document.querySelectorAll('.timeline > li').length === %d`, all)

	// Any two states.
	b.do(t, chromedp.Click(`.modes [data-mode=compare]`))
	b.until(t, `document.querySelector('.compared .change')`)
	b.open(t, "#/events")
	b.until(t, `document.querySelector('.row.event')`)
	b.do(t, chromedp.Evaluate(`location.hash = '#/object/deployments.apps/default/web?part=history&show=compare&from=`+fmt.Sprint(made)+`&to=`+fmt.Sprint(scaled)+`'`, nil))
	b.until(t, `[...document.querySelectorAll('.compared .change')].some((c) => c.querySelector('.path').textContent === 'spec.replicas' && c.querySelector('del').textContent === '1' && c.querySelector('ins').textContent === '4')`)
	b.until(t, `document.querySelectorAll('.axis .chosen').length === 2`)
	b.do(t, chromedp.Click(`.sides button`)) // Swap
	b.until(t, `[...document.querySelectorAll('.compared .change')].some((c) => c.querySelector('.path').textContent === 'spec.replicas' && c.querySelector('ins').textContent === '1')`)
	b.until(t, `location.hash.includes('from=%d')`, scaled)

	// Each field's last change.
	b.do(t, chromedp.Click(`.modes [data-mode=blame]`))
	b.until(t, `[...document.querySelectorAll('.blame .line')].some((l) => l.textContent.includes('replicas: 4') && l.querySelector('.rev').textContent === '%d' && l.querySelector('.who').textContent === 'kubernetes-admin')`, scaled)
	b.until(t, `[...document.querySelectorAll('.blame .line')].some((l) => l.textContent.includes('image: nginx') && l.querySelector('.rev').textContent === '%d')`, made)

	// Back to the creation: a preview, one confirmation, a new write.
	b.do(t, chromedp.Click(`.modes [data-mode=""]`))
	b.until(t, `document.querySelector('.timeline > li[data-revision="%d"] button.undo')`, made)
	b.do(t, chromedp.Evaluate(`document.querySelector('.timeline > li[data-revision="`+fmt.Sprint(made)+`"] button.undo').click()`, nil))
	b.until(t, `[...document.querySelectorAll('dialog.undo .change')].some((c) => c.querySelector('.path').textContent === 'spec.replicas' && c.querySelector('ins').textContent === '1')`)
	b.do(t, chromedp.Click(`dialog.undo .primary`))
	b.until(t, `!document.querySelector('dialog.undo')`)
	b.until(t, `[...document.querySelectorAll('.timeline > li')].some((li) => Number(li.dataset.revision) > %d && li.textContent.includes('update by kubernetes-admin') && li.textContent.includes('spec.replicas'))`, scaled)
	d, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Get(t.Context(), "web")
	if err != nil || *d.Spec.Replicas != 1 {
		t.Fatalf("%+v, %v", d, err)
	}

	// A deleted object has a history, and can be created again.
	if err := client.For[*appsv1.Deployment](b.client).Namespace("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.timeline > li.DELETED')`)
	b.do(t, chromedp.Evaluate(`document.querySelector('.timeline > li[data-revision="`+fmt.Sprint(made)+`"] button.undo').click()`, nil))
	b.until(t, `document.querySelector('dialog.undo .primary')?.disabled === false`)
	b.do(t, chromedp.Click(`dialog.undo .primary`))
	b.until(t, `[...document.querySelectorAll('.timeline > li.ADDED')].length === 2`)
	again, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Get(t.Context(), "web")
	if err != nil || again.UID == d.UID || *again.Spec.Replicas != 1 {
		t.Fatalf("%+v, %v", again, err)
	}

	// One that was deleted with its owner is created again without the reference to it.
	configMaps := client.For[*corev1.ConfigMap](b.client).Namespace("default")
	orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "orphan", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "gone", UID: "d0e5ab51-9b4a-4f2b-a0f5-6d2a8f3a4c11"},
	}}}
	if _, err := configMaps.Create(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	b.open(t, "#/object/configmaps/default/orphan?part=history")
	b.until(t, `document.querySelector('.timeline > li.DELETED')`) // by the garbage collector
	b.do(t, chromedp.Click(`.timeline > li.ADDED button.undo`))
	b.until(t, `document.querySelector('dialog.undo .gone')?.textContent.includes('Deployment/gone')`)
	b.until(t, `document.querySelector('dialog.undo .primary')?.disabled === false`)
	b.do(t, chromedp.Click(`dialog.undo .primary`))
	b.until(t, `document.querySelectorAll('.timeline > li.ADDED').length === 2`)
	if o, err := configMaps.Get(t.Context(), "orphan"); err != nil || len(o.OwnerReferences) > 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestHistoryOfReader: the page offers no undo to a user without the right to write the object, and
// no history without the right to read it.
func TestHistoryOfReader(t *testing.T) {
	b := newFixture(t)
	made, _ := b.story(t, 2)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
		{Verbs: []string{"post"}, NonResourceURLs: []string{ui.LinksPath}},
	}}
	if _, err := client.For[*rbacv1.ClusterRole](b.client).Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*rbacv1.ClusterRoleBinding](b.client).Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "ann"}},
	}); err != nil {
		t.Fatal(err)
	}
	res, err := b.client.As("ann").REST().Do(t.Context(), client.Request{Method: http.MethodPost, Path: ui.LinksPath, Accept: "application/json, */*"})
	for apierrors.IsForbidden(err) && t.Context().Err() == nil { // until the authorizer has the role
		res, err = b.client.As("ann").REST().Do(t.Context(), client.Request{Method: http.MethodPost, Path: ui.LinksPath, Accept: "application/json, */*"})
	}
	var link ui.Link
	if err != nil || json.Unmarshal(res.Body, &link) != nil {
		t.Fatalf("%s %v", res.Body, err)
	}
	base := b.client.REST().Address("/", nil)
	b.do(t, chromedp.Navigate(base.Scheme+"://"+base.Host+link.Path))
	b.until(t, `location.pathname === '/ui/'`)
	b.open(t, "#/object/deployments.apps/default/web?part=history")
	b.until(t, `document.querySelector('.timeline > li[data-revision="%d"]')`, made)
	b.until(t, `document.querySelectorAll('.timeline .change').length > 3`)
	if n := get[int](t, b, `document.querySelectorAll('button.undo').length`); n > 0 {
		t.Errorf("%d buttons offer an undo that the server would refuse", n)
	}
	b.open(t, "#/object/secrets/kube-system/anything?part=history")
	b.until(t, `document.querySelector('[aria-label=History]')?.textContent.includes('cannot get resource')`)
}
