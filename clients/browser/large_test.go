package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
	"github.com/chromedp/chromedp"
	appsv1 "k8s.io/api/apps/v1"
)

// TestLargeTree uses the explorer while 1,200 pods are made and replaced, and on the tree of the events that this causes. It
// logs the longest tasks of the page's main thread, with the time on the processor: the clock of a shared machine
// says little of the page.
func TestLargeTree(t *testing.T) {
	const pods = 1200
	b := newFixtureWith(t, trace.Options{}, 14)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	b.story(t, 2)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.pulse.live')`)
	b.open(t, "#/events")
	b.until(t, `document.querySelector('.log .list .row.event')`)
	t.Log("the live list while 1,200 pods start: ", summary(b.tasks(t, func() { b.scale(t, ctx, pods) })))

	var root int64
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	t.Log("the live list while they are replaced: ", summary(b.tasks(t, func() {
		d, err := deployments.Patch(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"version": "2"}}}}}))
		if err != nil {
			t.Fatal(err)
		}
		root = trace.Revision(d.ResourceVersion)
		b.available(t, ctx, d, pods)
		b.settle(t, ctx)
	})))
	t.Log("the order by duration, and the root causes: ", summary(b.tasks(t, func() {
		b.open(t, "#/events?sort=-took")
		b.until(t, `document.querySelector('.heads .took').textContent === 'took▾'`)
		b.open(t, "#/events?show=trees&sort=-effects")
		b.until(t, `%s.includes(%d)`, shownRevisions, root)
	})))
	t.Log("the tree: ", summary(b.tasks(t, func() {
		b.open(t, fmt.Sprintf("#/events/%d/tree", root))
		b.until(t, `document.querySelector('.row.group')`)
	})))
	t.Log(get[string](t, b, `document.querySelector('.tree > p').textContent`))
	t.Log("zoom, and the tree unfolded: ", summary(b.tasks(t, func() {
		for _, k := range []string{"+", "+", "]", "-", "f", "G", "g", "0", "f", "s", "s"} {
			b.key(t, k)
		}
		small := b.box(t, ".minimap")
		b.drag(t, small.x+small.w*0.2, small.y+10, small.x+small.w*0.8, small.y+10)
	})))
	b.until(t, `document.querySelector('.row.group')`)
	if n := get[int](t, b, `document.querySelectorAll('*').length`); n > 3000 {
		t.Errorf("%d elements are in the document", n)
	}
	if events := get[int](t, b, `parseInt(document.querySelector('.tree > p').textContent.split(' ')[0].replace(/\D/g, ''), 10)`); events < 2*pods {
		t.Errorf("the tree has %d events", events)
	}
}
