package browser

import (
	"testing"

	"fairlead.dev/client"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEdit edits a Deployment by the page: with errors, a check, an application, and a conflict.
func TestEdit(t *testing.T) {
	b := newFixture(t)
	b.story(t, 2)
	b.enter(t, b.cp.PageURL())
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	begin := func() {
		t.Helper()
		b.open(t, webAddress+"?part=yaml")
		b.until(t, `document.querySelector('[data-action=edit]')?.checkVisibility()`)
		b.do(t, evaluate(`document.activeElement.blur()`))
		b.key(t, "e")
		b.until(t, `document.activeElement.matches('.editor textarea')`)
		b.do(t, evaluate(`document.activeElement.value.startsWith('e') && (document.activeElement.setSelectionRange(0, 1), document.execCommand('delete'))`)) // chromedp's e is typed into the field too
	}
	replace := func(from, to string) {
		t.Helper()
		b.do(t, evaluate(`((from, to) => {
			const area = document.querySelector('.editor textarea'), at = area.value.indexOf(from);
			if (at < 0) throw new Error('no ' + from + ' in ' + area.value);
			area.focus(); area.setSelectionRange(at, at + from.length); document.execCommand('insertText', false, to);
		})(`+quoted(from)+`, `+quoted(to)+`)`))
	}
	check := func() {
		t.Helper()
		b.do(t, chromedp.Click(".tools .primary"))
	}
	lineOf := func(text string) string {
		return `document.querySelector('.editor textarea').value.split('\n').findIndex((l) => l.includes(` + quoted(text) + `))`
	}
	marked := func(text string) string {
		return `document.querySelector('.gutter').children[` + lineOf(text) + `].classList.contains('ill')`
	}

	begin()
	if text := get[string](t, b, `document.querySelector('.editor textarea').value`); len(text) < 100 {
		t.Fatalf("the editor has %q", text)
	}
	if get[bool](t, b, `['managedFields', 'resourceVersion', 'status:'].some((f) => document.querySelector('.editor textarea').value.includes(f))`) {
		t.Error("the editor shows fields that cannot be edited")
	}

	// Tab indents; after Escape it moves the focus.
	b.key(t, kb.Tab)
	b.until(t, `document.querySelector('.editor textarea').value.match(/^  \w+: /) && document.activeElement.matches('textarea')`)
	b.do(t, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8)))
	b.until(t, `document.querySelector('.editor textarea').value.match(/^\w+: /)`)
	b.key(t, kb.Escape)
	b.until(t, `document.activeElement.matches('.tools .primary')`)

	// Errors are beside their lines.
	replace("replicas: 2", "replicaz: 2")
	check()
	b.until(t, "%s", `document.querySelector('.failure li')?.textContent.includes('unknown field') && `+marked("replicaz"))
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "an error, "+theme)
	}
	replace("replicaz: 2", "replicas: 2")
	replace("image: nginx", `image: ""`)
	check()
	b.until(t, "%s", `document.querySelector('.failure li')?.textContent.includes('spec.template.spec.containers[0].image') && `+marked(`image: ""`))
	b.until(t, `document.querySelector('.beside-lines').textContent.includes('Required value')`)
	replace(`image: ""`, "image: nginx: oops")
	check()
	b.until(t, "%s", `document.querySelector('.failure li')?.textContent.includes('mapping values') && `+marked("oops"))
	replace("image: nginx: oops", "image: nginx:3")

	// The check shows the difference without storing it; then it is applied.
	replace("replicas: 2", "replicas: 1")
	check()
	b.until(t, `document.querySelector('.tools .primary').textContent === 'Apply' && document.querySelectorAll('.result .change').length === 2 && document.querySelector('.result').textContent.includes('nginx:3')`)
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "a difference, "+theme)
	}
	if d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("the check has stored %v, %v", d, err)
	}
	b.do(t, chromedp.Click(".tools .primary"))
	b.until(t, `document.querySelector('.outcome')?.textContent.includes('Applied.') && document.querySelector('.outcome a[href^="#/events/"]') && document.querySelector('.yaml')`)
	d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 1 || d.Spec.Template.Spec.Containers[0].Image != "nginx:3" {
		t.Errorf("applied: %v, %v", d, err)
	}

	// Another client changes it meanwhile: the change is shown, and ours is put on it.
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool { return d.Status.UpdatedReplicas == 1 && d.Status.Replicas == 1 })
	begin()
	replace("replicas: 1", "replicas: 4")
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"theirs": "yes"}}})); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.meanwhile')?.textContent.includes('metadata.labels.theirs')`)
	check()
	b.until(t, `document.querySelector('.result .bad')?.textContent.includes('rebase')`)
	b.do(t, chromedp.Click(".meanwhile button"))
	b.until(t, `document.querySelector('.meanwhile').hidden && document.querySelector('.editor textarea').value.includes('theirs:')`)
	check()
	b.until(t, `document.querySelector('.tools .primary').textContent === 'Apply' && document.querySelectorAll('.result .change').length === 1`)
	b.do(t, chromedp.Click(".tools .primary"))
	b.until(t, `document.querySelector('.yaml')`)
	if d, err = deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 4 || d.Labels["theirs"] != "yes" {
		t.Errorf("after the conflict: %v, %v", d, err)
	}

	// Both change the same line.
	begin()
	replace("theirs: \"yes\"", "theirs: ours")
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"theirs": "other"}}})); err != nil {
		t.Fatal(err)
	}
	b.until(t, `!document.querySelector('.meanwhile').hidden`)
	b.do(t, chromedp.Click(".meanwhile button"))
	b.until(t, "%s", `document.querySelector('.editor textarea').value.includes('theirs: ours') && document.querySelector('.editor textarea').value.includes('# theirs:     theirs: other') && `+marked("theirs: ours"))

	// Giving up asks once.
	b.do(t, chromedp.Click(".tools button:nth-child(2)"))
	b.until(t, `document.querySelector('.tools button:nth-child(2)').textContent === 'Discard the changes'`)
	b.do(t, chromedp.Click(".tools button:nth-child(2)"))
	b.until(t, `document.querySelector('.yaml')`)
}
