package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"fairlead.dev/client"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shownRevisions is an expression for the revisions in the list.
const shownRevisions = `[...document.querySelectorAll('.log .list .row.event')].map((r) => Number(r.querySelector('.rev').textContent))`

// explorer filters, orders and selects events by the controls and the plot.
func (b *fixture) explorer(t *testing.T, scaled int64) {
	b.do(t, chromedp.EmulateViewport(1360, 850))
	b.open(t, "#/events?text=")
	b.until(t, `document.querySelector('.log .list .row.event') && document.querySelector('.scatter .legend').textContent.includes('pods')`)
	if text := get[string](t, b, `document.querySelector('.scatter canvas').getAttribute('aria-label')`); !strings.Contains(text, "events by time and duration") {
		t.Error("the plot is described as ", text)
	}

	// Leases are hidden unless asked for.
	if _, err := client.For[*coordinationv1.Lease](b.client).Namespace("default").Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "renewed"}}); err != nil {
		t.Fatal(err)
	}
	b.createConfigMap(t, "made-after-the-lease")
	b.until(t, `document.querySelector('.log .list').textContent.includes('made-after-the-lease')`)
	if get[bool](t, b, `document.querySelector('.log .list').textContent.includes('renewed')`) {
		t.Error("a Lease is in the list")
	}
	b.do(t, chromedp.Click(".bar label.check input"))
	b.until(t, `document.querySelector('.log .list').textContent.includes('renewed') && location.hash.includes('heartbeats=1')`)
	b.do(t, chromedp.Click(".bar label.check input"))

	// The filters of the panel are in the address, and the address sets them.
	b.open(t, "#/events?verb=create+binding&user=system%3Akube-scheduler")
	b.until(t, `document.querySelector('[aria-expanded]').textContent === 'Filters (2)' && document.querySelectorAll('.log .list .row.event').length >= 4 && [...document.querySelectorAll('.log .list .row.event')].every((r) => r.querySelector('.deed').textContent === 'create binding by kube-scheduler')`)
	b.do(t, chromedp.Click("[aria-expanded]"))
	b.until(t, `!document.querySelector('.panel').hidden && document.querySelector('select[aria-label=Verb]').value === 'create binding'`)
	b.do(t, chromedp.Click(".panel button"))
	b.until(t, `document.querySelector('[aria-expanded]').textContent === 'Filters' && !location.hash.includes('verb')`)
	b.do(t, chromedp.SetValue(`select[aria-label=Controller]`, "replicaset"), evaluate(`document.querySelector('select[aria-label=Controller]').dispatchEvent(new Event('change'))`))
	b.until(t, `location.hash.includes('controller=replicaset') && %s.length > 3`, shownRevisions)
	b.do(t, chromedp.Click(".panel button"), chromedp.Click("[aria-expanded]"))

	// The orders.
	b.do(t, chromedp.Click(".heads .took .sort"))
	b.until(t, `location.hash.includes('sort=-took') && document.querySelector('.heads .took').textContent === 'took▾'`)
	b.do(t, chromedp.Click(".heads .effects .sort"))
	b.until(t, `location.hash.includes('sort=-effects') && Number(document.querySelector('.log .list .row.event[aria-posinset="1"] .effects').textContent.replace(/\D/g, '')) > 9`)

	// Root causes stand for their trees.
	b.open(t, "#/events?show=trees")
	b.until(t, `%s.includes(%d) && [...document.querySelectorAll('.log .list .row.event')].every((r) => r.querySelector('.effects').textContent)`, shownRevisions, scaled)

	// A region of the plot selects times and durations; Esc undoes that.
	b.open(t, "#/events?show=&kind=pods")
	b.until(t, `%s.length > 9`, shownRevisions)
	all := get[int](t, b, `parseInt(document.querySelector('.count').textContent.replace(/\D/g, ''), 10)`)
	plot := b.box(t, ".scatter canvas")
	b.drag(t, plot.x+70, plot.y+12, plot.x+plot.w-20, plot.y+plot.h/2)
	b.until(t, `/from=\d+&to=\d+&min=[\d.]+[µm]?s&max=/.test(decodeURIComponent(location.hash)) && document.querySelector('select.range').value === 'custom'`)
	b.until(t, `parseInt(document.querySelector('.count').textContent.replace(/\D/g, ''), 10) < %d`, all)
	b.do(t, evaluate(`document.querySelector('.log .list').focus()`))
	b.key(t, kb.Escape)
	b.until(t, `!location.hash.includes('from=') && parseInt(document.querySelector('.count').textContent.replace(/\D/g, ''), 10) === %d`, all)

	// By keyboard: through the points, and open one.
	b.do(t, evaluate(`document.querySelector('.scatter canvas').focus()`))
	b.key(t, kb.End)
	b.until(t, `!document.querySelector('.tip').hidden && document.querySelector('.tip').textContent.includes('revision')`)
	revision := get[string](t, b, `/revision (\d+)/.exec(document.querySelector('.tip').textContent)[1]`)
	b.key(t, kb.Enter)
	b.until(t, `location.hash.startsWith('#/events/%s') && document.querySelector('.waterfall')`, revision)
	b.key(t, kb.Escape)
	b.open(t, "#/events?text=") // no filter for the next tests
	b.until(t, `!location.hash.includes('kind')`)
}

// box is a rectangle in the page.
type box struct{ x, y, w, h float64 }

func (b *fixture) box(t *testing.T, selector string) box {
	t.Helper()
	v := get[[]float64](t, b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x, r.y, r.width, r.height] })()`, selector))
	return box{v[0], v[1], v[2], v[3]}
}

// shownWindow is an expression for the window of time that a tree shows.
const shownWindow = `document.querySelector('.minimap canvas').getAttribute('aria-valuetext')`

// tree uses a tree of causes: equal subtrees, the window of time, the critical path, statistics.
func (b *fixture) tree(t *testing.T) {
	b.do(t, chromedp.EmulateViewport(1360, 850))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	root := b.scale(t, ctx, 12)
	b.open(t, fmt.Sprintf("#/events/%d/tree", root))
	b.until(t, `document.querySelector('.row.group b')?.textContent.endsWith('×') && document.querySelector('.row.group .name').textContent.startsWith('pods create → bind')`)
	b.until(t, `document.querySelectorAll('.row.critical').length > 2 && document.querySelector('.crit.reconcile') && /in reconciles/.test(document.querySelector('.spent').textContent)`)
	b.until(t, `document.querySelector('.row.group').getAttribute('aria-expanded') === 'false'`)
	b.do(t, chromedp.Click(".row.group .turn"))
	b.until(t, `document.querySelector('.row.group').getAttribute('aria-expanded') === 'true' && document.querySelector('.row.group + .row .kind').textContent === 'pods'`)
	b.key(t, "f")
	b.until(t, `!document.querySelector('.row.group')`)
	b.key(t, "f")
	b.until(t, `document.querySelector('.row.group')`)

	whole := get[string](t, b, shownWindow)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"keys", func() { b.key(t, "+"); b.key(t, "]") }},
		{"a drag over the rows", func() {
			track := b.box(t, ".row.node .track")
			b.drag(t, track.x+track.w*0.2, track.y+4, track.x+track.w*0.6, track.y+50)
		}},
		{"a drag over the small picture", func() {
			small := b.box(t, ".minimap")
			b.drag(t, small.x+small.w*0.3, small.y+10, small.x+small.w*0.7, small.y+12)
		}},
		{"the wheel", func() {
			axis := b.box(t, ".falls .scale")
			b.wheel(t, axis.x+axis.w/2, axis.y+5, -300)
		}},
	} {
		step.do()
		b.until(t, `%s !== %q && location.hash.startsWith('#/events/%d/tree')`, shownWindow, whole, root)
		b.key(t, "0")
		b.until(t, `%s === %q`, shownWindow, whole)
	}

	b.key(t, "s")
	b.until(t, `[...document.querySelectorAll('.numbers tbody tr')].some((r) => r.firstChild.textContent === 'pods' && Number(r.children[1].textContent) >= 24)`)
	b.do(t, evaluate(`[...document.querySelectorAll('.statistics button')].find((x) => x.textContent === 'by controller').click()`))
	b.until(t, `[...document.querySelectorAll('.numbers tbody th')].some((x) => x.textContent === 'default-scheduler')`)
	b.key(t, "s")
	b.until(t, `document.querySelector('.row.group')`)

	t.Run("compare", func(t *testing.T) { b.compare(t, ctx, root) })
	t.Run("raw data", func(t *testing.T) { b.raw(t, root) })
}

// compare compares two scalings by different numbers of pods.
func (b *fixture) compare(t *testing.T, ctx context.Context, before int64) {
	root := b.scale(t, ctx, 16)
	b.open(t, fmt.Sprintf("#/events/%d/tree", root))
	b.until(t, `document.querySelectorAll('.row.node').length > 5`)
	b.key(t, "d")
	b.until(t, `location.hash === '#/compare/%d/%d'`, before, root)
	pods := `[...document.querySelectorAll('.row.pair:not(.heads)')].find((r) => r.querySelector('.kind').textContent === 'pods' && r.querySelector('small').textContent.startsWith('create · '))`
	b.until(t, "%s", pods+`?.children[1].textContent === '8' && `+pods+`.children[2].textContent === '4' && `+pods+`.children[3].textContent === '−4'`)
	b.legible(t, "compare")
	b.do(t, chromedp.Click(".compare label.check input"))
	b.until(t, `[...document.querySelectorAll('.row.pair:not(.heads)')].length > 2`)
	b.do(t, chromedp.Click(".compare .bar button"))
	b.until(t, `location.hash === '#/compare/%d/%d'`, root, before)
}

// raw saves a trace as JSON and for OpenTelemetry.
func (b *fixture) raw(t *testing.T, root int64) {
	dir := t.TempDir()
	b.do(t, browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.open(t, fmt.Sprintf("#/events/%d/tree", root))
	b.until(t, `document.querySelector('.row.group')`)
	b.do(t, chromedp.Click(".raw summary"))
	for _, c := range []struct{ button, file, has string }{
		{"Save JSON", fmt.Sprintf("event-%d.jsonl", root), `"name":"web"`},
		{"Save OTLP", fmt.Sprintf("event-%d.otlp.json", root), `"resourceSpans"`},
	} {
		b.do(t, evaluate(fmt.Sprintf(`[...document.querySelectorAll('.raw button')].find((x) => x.textContent === %q).click()`, c.button)))
		b.until(t, `document.querySelector('.raw [role=status]').textContent === 'Saved as %s.'`, c.file)
		var data []byte
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // the browser writes the file by itself
			data, _ = os.ReadFile(filepath.Join(dir, c.file))
			if line, _, _ := strings.Cut(string(data), "\n"); len(data) > 0 && json.Valid([]byte(line)) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d bytes", c.file, len(data))
			}
		}
		if !strings.Contains(string(data), c.has) {
			t.Errorf("%s has no %s", c.file, c.has)
		}
	}
}
