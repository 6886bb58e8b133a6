package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// pod returns the name of a pod with a label.
func (b *fixture) pod(t *testing.T, label string) string {
	t.Helper()
	list, err := client.For[*corev1.Pod](b.client).Namespace("default").List(t.Context(), metav1.ListOptions{LabelSelector: label})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("pods with %s: %v, %v", label, list, err)
	}
	return list.Items[0].Name
}

// cells is an expression: the texts of a column of the list.
func cells(column int) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.list .row.cells')].sort((a, b) => a.dataset.i - b.dataset.i).map((r) => r.children[%d].textContent)`, column)
}

// browse: a kind's objects are listed with the server's columns, follow changes, and can be filtered and sorted; the chosen one
// is shown beside them.
func (b *fixture) browse(t *testing.T) {
	maps := client.For[*corev1.ConfigMap](b.client).Namespace("default")
	for i, name := range []string{"shelf-10", "shelf-2", "shelf-1"} {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"shelf": fmt.Sprint(i)}}, Data: map[string]string{"book": "sea"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.open(t, "#/browse/configmaps?namespace=default&words=shelf")
	b.until(t, `%s.join() === 'shelf-1,shelf-2,shelf-10'`, cells(0))
	b.until(t, `document.querySelector('.kinds a[aria-current]').textContent === 'configmaps'`)
	b.do(t, chromedp.Click(`.sort[title="Sort by Name"]`), chromedp.Click(`.sort[title="Sort by Name"]`))
	b.until(t, `%s.join() === 'shelf-10,shelf-2,shelf-1' && location.hash.includes('sort=-Name')`, cells(0))

	// Other clients' changes appear.
	if err := maps.Delete(t.Context(), "shelf-2", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.createConfigMap(t, "shelf-3")
	b.until(t, `%s.join() === 'shelf-10,shelf-3,shelf-1'`, cells(0))

	b.open(t, "#/browse/configmaps?namespace=default&labels=shelf+in+(0,2)")
	b.until(t, `%s.join() === 'shelf-1,shelf-10'`, cells(0))
	b.open(t, "#/browse/configmaps?fields=metadata.name%3Dshelf-1")
	b.until(t, `%s.join() === 'shelf-1' && %s.join() === 'default'`, cells(1), cells(0))
	b.open(t, "#/browse/configmaps?labels=%3D%3D%3D")
	b.until(t, `document.querySelector('.count.bad')?.textContent.includes('identifier')`)

	// The chosen object, by keyboard. Its tabs stay in their place while it is read, since they can be clicked already.
	b.open(t, "#/browse/configmaps?namespace=default&words=shelf")
	b.until(t, `%s.length === 3`, cells(0))
	b.do(t, chromedp.Evaluate(`(() => {
		const { fetch } = window, released = new Promise((done) => { window.release = done; });
		window.fetch = async (url, ...rest) => {
			if (String(url).includes('fieldSelector')) await released;
			return fetch(url, ...rest);
		};
	})()`, nil), chromedp.Focus(".list"))
	b.key(t, "g"+kb.Enter)
	b.until(t, `location.hash.includes('of=default%%2Fshelf-1') && document.querySelector('.side .about b').textContent === 'default/shelf-1'`)
	const top = `document.querySelector('.side .tabs').getBoundingClientRect().top`
	before := get[float64](t, b, top)
	b.do(t, chromedp.Evaluate(`release()`, nil))
	b.until(t, `document.querySelector('.side .about .dim').textContent.includes('revision') && document.querySelector('.side .buttons button')`)
	if after := get[float64](t, b, top); after != before {
		t.Errorf("the tabs moved from %v to %v when the object had been read", before, after)
	}
	b.do(t, chromedp.Click(`.side .tabs [data-part=yaml]`))
	b.until(t, `document.querySelector('.side .yaml').textContent.includes('book: sea')`)
	b.do(t, chromedp.SendKeys(".side .tools input", "book"))
	b.until(t, `document.querySelectorAll('.side .line.hit').length > 0`)
	if _, err := maps.Patch(t.Context(), "shelf-1", client.MergePatch(map[string]any{"data": map[string]any{"book": "harbour"}})); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.side .yaml').textContent.includes('book: harbour')`)
	b.do(t, chromedp.Focus(".list"))
	b.key(t, kb.Escape)
	b.until(t, `!location.hash.includes('of=') && !document.querySelector('.side .pane')`)

	b.open(t, "#/browse/pods?namespace=default")
	b.until(t, `document.querySelectorAll('.list .tone.well').length === 4 && document.querySelectorAll('.age').length >= 4`)
	b.open(t, "#/browse/nothing.example.com")
	b.until(t, `document.querySelector('.count.bad')?.textContent === 'the server has no nothing.example.com'`)
}

// travel: the list and the object beside it are shown as they were at a revision.
func (b *fixture) travel(t *testing.T, scaled int64) {
	rows := func(n int, at int64) {
		t.Helper()
		b.open(t, fmt.Sprintf("#/browse/pods?namespace=default&at=%d", at))
		b.until(t, `document.querySelector('.count').textContent.includes('at revision %d') && document.querySelectorAll('.list .row.cells').length === %d`, at, n)
	}
	rows(1, scaled)
	rows(4, b.lives.Newest())
	b.open(t, fmt.Sprintf("#/browse/deployments.apps?namespace=default&of=default%%2Fweb&at=%d", scaled-1))
	b.until(t, `document.querySelector('.side .yaml')?.textContent.includes('replicas: 1') && [...document.querySelectorAll('.side .change .path')].some((p) => p.textContent === 'spec.replicas')`)
	b.do(t, chromedp.Focus(".list"))
	b.key(t, "l") // to the next event of this object: the scaling
	b.until(t, `location.hash.includes('at=%d') && document.querySelector('.side .yaml')?.textContent.includes('replicas: 4')`, scaled)
	b.do(t, chromedp.Click(`button[title="The present"]`))
	b.until(t, `!location.hash.includes('at=') && document.querySelector('.side .why')`)
}

// manyObjects: ten thousand objects are listed, sorted and filtered while only the visible rows are in the DOM. The test before
// it has created them.
func (b *fixture) manyObjects(t *testing.T) {
	b.do(t, chromedp.Evaluate(`(() => {
		window.tasks = [];
		new PerformanceObserver((l) => window.tasks.push(...l.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
	})()`, nil))
	b.open(t, "#/browse/configmaps?namespace=default")
	b.until(t, `parseInt(document.querySelector('.count').textContent.replace(/\D/g, ''), 10) >= 10000 && !document.querySelector('.count').textContent.includes('reading')`)
	b.open(t, "#/browse/configmaps?namespace=default&sort=-Name")
	b.until(t, `%s[0] > 'shelf'`, cells(0))
	b.do(t, chromedp.Focus(".list"))
	b.key(t, "G")
	b.until(t, `document.querySelector('.row.on')?.textContent.includes('crowd-00000')`)
	b.open(t, "#/browse/configmaps?namespace=default&words=crowd-0999")
	b.until(t, `%s.length === 10`, cells(0))
	b.open(t, "#/browse/configmaps?namespace=default")
	b.until(t, `%s[0] === 'crowd-00000'`, cells(0))
	if drawn := get[int](t, b, `document.querySelectorAll('.list .row').length`); drawn > 120 {
		t.Errorf("%d rows are drawn at once", drawn)
	}
	t.Log("while they were read, sorted and filtered: ", get[string](t, b, `window.tasks.length + ' tasks above 50 ms, the longest ' + Math.max(0, ...window.tasks).toFixed(0) + ' ms'`))
}
