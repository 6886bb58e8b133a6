package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// lowContrast lists the texts of the page whose contrast with their background is below 4.5:1, by
// WCAG 2's formula for level AA.
const lowContrast = `(() => {
	const ctx = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	const colour = (css) => { ctx.clearRect(0, 0, 1, 1); ctx.fillStyle = css; ctx.fillRect(0, 0, 1, 1); const [r, g, b, a] = ctx.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
	const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
	const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const ground = (el) => { const layers = []; for (let e = el; e; e = e.parentElement) layers.unshift(colour(getComputedStyle(e).backgroundColor)); return layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
	const found = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const el = n.parentElement;
		if (!n.textContent.trim() || !el.checkVisibility() || el.closest('noscript, option')) continue;
		const behind = ground(el), text = over(colour(getComputedStyle(el).color), behind);
		const [a, b] = [light(text), light(behind)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) found.add(ratio.toFixed(2) + ' ' + el.tagName.toLowerCase() + '.' + el.className + ' ' + n.textContent.trim().slice(0, 30));
	}
	return [...found].join('\n');
})()`

var themes = []string{"dark", "light"}

// theme makes the browser prefer a color scheme.
func (b *fixture) theme(t *testing.T, theme string) {
	b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
}

// legible checks that all text of the page has enough contrast.
func (b *fixture) legible(t *testing.T, view string) {
	if text := get[string](t, b, lowContrast); text != "" {
		t.Errorf("%s: too little contrast:\n%s", view, strings.TrimSpace(text))
	}
}

// contrast: all text has enough contrast in both themes, and the focus is visible.
func (b *fixture) contrast(t *testing.T, scaled int64) {
	for _, theme := range themes {
		b.theme(t, theme)
		for _, p := range []struct{ place, ready string }{
			{"#/overview", `document.querySelector('.health.well') && document.querySelector('.plot .line')`},
			{"#/events", `document.querySelector('.list .row.event')`},
			{"#/events?show=trees", `document.querySelector('.scatter .legend i')`},
			{fmt.Sprintf("#/events/%d", scaled), `document.querySelector('.fall.work')`},
			{fmt.Sprintf("#/events/%d/tree", scaled), `document.querySelectorAll('.row.node.on').length === 1`},
			{"#/events?text=none+is+named+so", `document.querySelector('.empty button')`},
			{"#/events?text=", `document.querySelector('.list .row.event')`},
			{"#/browse/pods", `document.querySelector('.list .tone') && document.querySelector('.kinds a')`},
			{"#/object/deployments.apps/default/web", `document.querySelector('.why .badge')`},
			{"#/object/deployments.apps/default/web?part=yaml", `document.querySelector('.yaml .key')`},
			{"#/object/deployments.apps/default/web?part=history", `document.querySelector('.change del')`},
			{"#/watchers", `document.querySelector('.row.watcher')`},
			{"#/queues", `document.querySelector('.card .bad, .card')`},
			{fmt.Sprintf("#/browse/deployments.apps?of=default%%2Fweb&at=%d", scaled), `document.querySelector('.side .yaml')`},
		} {
			b.open(t, p.place)
			b.until(t, "%s", p.ready)
			b.legible(t, p.place+", "+theme)
		}
	}
	b.do(t, evaluate(`document.querySelector('#help').focus()`))
	b.key(t, "\t") // moves the focus by keyboard
	if get[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus is not visible")
	}
}
