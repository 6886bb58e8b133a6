package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/why"
	appsv1 "k8s.io/api/apps/v1"
)

// why: the page shows the server's explanation with all its parts, and updates it after a
// change.
func (b *fixture) why(t *testing.T) {
	b.stuck(t)
	b.open(t, "#/object/deployments.apps/default/stuck")
	b.until(t, `document.querySelectorAll('.why .parts .parts > li').length === 1 && /and 1 more like it/.test(document.querySelector('.why .parts .parts > li').textContent)`)
	b.until(t, `document.querySelector('.why > .state').textContent.includes('has 0 of 2 replicas ready') && document.querySelector('.why > .state .badge').textContent === 'waits'`)
	res, err := b.client.REST().Do(t.Context(), client.Request{Path: why.Path, Query: map[string][]string{"resource": {"deployments.apps"}, "namespace": {"default"}, "name": {"stuck"}}})
	if err != nil {
		t.Fatal(err)
	}
	var a why.Explanation
	if err := json.Unmarshal(res.Body, &a); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.why').textContent.includes('Insufficient cpu')`)
	for _, reason := range reasons(a) {
		quoted, err := json.Marshal(reason)
		if err != nil {
			t.Fatal(err)
		}
		b.until(t, `document.querySelector('.why').textContent.includes(%s)`, quoted)
	}
	if all := strings.Join(reasons(a), "; "); !strings.Contains(all, "Insufficient cpu") {
		t.Errorf("the server's explanation lacks the reasons: %s", all)
	}
	b.until(t, `[...document.querySelectorAll('.why .saw a.rev')].some((a) => /^#\/events\/\d+$/.test(a.getAttribute('href')))`)

	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	if _, err := deployments.Patch(t.Context(), "stuck", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 0}})); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.why > .state .badge').textContent === 'settled' && document.querySelector('.why > .state').textContent.includes('has 0 of 0 replicas ready')`)
	b.open(t, "#/object/deployments.apps/default/nobody")
	b.until(t, `document.querySelector('.why').textContent.includes('It does not exist')`)
}

// reasons are those of an explanation and of its parts.
func reasons(a why.Explanation) []string {
	all := a.Reasons
	for _, p := range a.Parts {
		all = append(all, reasons(p)...)
	}
	return all
}
