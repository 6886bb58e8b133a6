package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPage uses all views of the page, on a control plane where a Deployment was scaled.
func TestPage(t *testing.T) {
	b := newFixture(t)
	_, scaled := b.story(t, 4)
	t.Run("login", func(t *testing.T) { b.login(t) })
	if t.Failed() {
		return
	}
	t.Run("overview", func(t *testing.T) { b.overview(t) })
	t.Run("log", func(t *testing.T) { b.log(t, scaled) })
	t.Run("event", func(t *testing.T) { b.event(t, scaled) })
	t.Run("modules", func(t *testing.T) { b.modules(t) })
	t.Run("explorer", func(t *testing.T) { b.explorer(t, scaled) })
	t.Run("addresses", func(t *testing.T) { b.addresses(t, scaled) })
	t.Run("object", func(t *testing.T) { b.object(t, scaled) })
	t.Run("why", func(t *testing.T) { b.why(t) })
	t.Run("injection", func(t *testing.T) { b.injection(t) })
	t.Run("watchers and queues", func(t *testing.T) { b.others(t) })
	t.Run("a watch held back", func(t *testing.T) { b.held(t) })
	t.Run("browse", func(t *testing.T) { b.browse(t) })
	t.Run("search", func(t *testing.T) { b.search(t) })
	t.Run("time travel", func(t *testing.T) { b.travel(t, scaled) })
	t.Run("tree", func(t *testing.T) { b.tree(t) })
	t.Run("contrast", func(t *testing.T) { b.contrast(t, scaled) })
	t.Run("screens", func(t *testing.T) { b.screens(t, scaled) })
	t.Run("ten thousand events", func(t *testing.T) { b.many(t) })
	t.Run("ten thousand objects", func(t *testing.T) { b.manyObjects(t) })
	t.Run("server outage", func(t *testing.T) { b.outage(t) })
	t.Run("logout", func(t *testing.T) { b.logout(t) })
}

func (b *fixture) login(t *testing.T) {
	b.do(t, chromedp.Navigate(b.cp.URL()+"/ui/"))
	b.until(t, `location.pathname === '/ui/login' && document.querySelector('#form')`)
	link := b.cp.PageURL()
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.health.well, .health.ill')`)
	if href := get[string](t, b, `location.href`); strings.Contains(href, strings.Split(link, "#")[1]) {
		t.Error("the secret stays in the address: ", href)
	}
	if visible := get[string](t, b, `document.cookie`); visible != "" {
		t.Error("scripts see cookies: ", visible)
	}
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := network.GetCookies().Do(ctx)
		if err == nil && (len(all) != 1 || !all[0].HTTPOnly || !all[0].Secure || all[0].SameSite != network.CookieSameSiteStrict) {
			t.Errorf("cookies: %+v", all)
		}
		return err
	}))
	// A request with the cookie alone, as another site could send it, has no session.
	code := get[int](t, b, `(() => { const x = new XMLHttpRequest(); x.open('GET', '/api/v1/secrets', false); x.send(); return x.status })()`)
	if code != 403 {
		t.Errorf("without the page's header: %d", code)
	}
	// An injected script does not run.
	b.do(t, chromedp.Evaluate(`try { document.body.insertAdjacentHTML('beforeend', '<img>') ; window.slipped = true } catch { window.slipped = false }`, nil))
	if get[bool](t, b, `window.slipped`) {
		t.Error("a script made HTML from a string")
	}
}

func (b *fixture) log(t *testing.T, scaled int64) {
	b.open(t, "#/events")
	b.until(t, `document.querySelector('.log .list .row.event')`)
	b.key(t, "/")
	b.until(t, `document.activeElement.type === 'search'`)
	b.do(t, chromedp.Evaluate(`document.activeElement.select()`, nil)) // chromedp's / is typed into the field too
	b.key(t, "deployments patch -status")
	b.until(t, `document.querySelectorAll('.list .row.event').length === 1 && document.querySelector('.list .row.event .rev').textContent === '%d'`, scaled)
	b.key(t, kb.Enter) // from the filter to the list
	b.until(t, `document.activeElement.classList.contains('list')`)
	b.key(t, "j")
	b.until(t, `document.querySelector('.row.event.on')`)
	b.key(t, kb.Enter)
	b.until(t, `location.hash === '#/events/%d?text=deployments+patch+-status' && document.querySelectorAll('.waterfall .fall').length > 6`, scaled)
	b.key(t, kb.Escape)
	b.until(t, `location.hash === '#/events?text=deployments+patch+-status'`)
	b.do(t, chromedp.Evaluate(`(() => { const i = document.querySelector('.log input'); i.value = ''; i.dispatchEvent(new Event('input')); })()`, nil),
		chromedp.SetValue(`select[aria-label=Kind]`, "pods"), chromedp.Evaluate(`document.querySelector('select[aria-label=Kind]').dispatchEvent(new Event('change'))`, nil))
	b.until(t, `document.querySelectorAll('.list .row.event').length >= 4 && [...document.querySelectorAll('.list .row.event .kind')].every((k) => k.textContent === 'pods')`)
	b.do(t, chromedp.SetValue(`select[aria-label=Kind]`, ""), chromedp.Evaluate(`document.querySelector('select[aria-label=Kind]').dispatchEvent(new Event('change'))`, nil))

	// While paused, new events are counted; then they are shown.
	b.do(t, chromedp.Focus(".list"))
	b.key(t, "p")
	b.until(t, `document.querySelector('[aria-pressed=true]')`)
	b.createConfigMap(t, "while-paused")
	b.until(t, `document.querySelector('.count').textContent.includes('new one')`)
	if get[bool](t, b, `document.querySelector('.list').textContent.includes('while-paused')`) {
		t.Error("the list is not paused")
	}
	b.key(t, "p")
	b.until(t, `document.querySelector('.list').textContent.includes('while-paused')`)
	b.key(t, "?")
	b.until(t, `document.querySelector('dialog[open]')`)
	b.key(t, kb.Escape)
	b.until(t, `!document.querySelector('dialog[open]')`)
}

func (b *fixture) event(t *testing.T, scaled int64) {
	b.open(t, fmt.Sprintf("#/events/%d", scaled))
	b.until(t, `['received', 'admitted', 'published', 'cached', 'kube-controller-manager', 'informer of deployments', 'deployment'].every((name) => document.querySelector('.waterfall').textContent.includes(name))`)
	b.key(t, "c")
	b.until(t, `document.querySelectorAll('.row.node').length > 9`)
	if n := get[int](t, b, `[...document.querySelectorAll('.node')].filter((n) => n.querySelector('.kind').textContent === 'pods' && n.querySelector('small').textContent.startsWith('create · ')).length`); n != 3 {
		t.Errorf("the scaling created %d pods, want 3", n)
	}
	all := get[int](t, b, `document.querySelectorAll('.row.node').length`)
	b.key(t, "h")
	b.until(t, `document.querySelectorAll('.row.node').length === 1`)
	b.key(t, "l")
	b.until(t, `document.querySelectorAll('.row.node').length === %d`, all)
	b.key(t, "o")
	b.until(t, `location.hash === '#/object/deployments.apps/default/web'`)
}

func (b *fixture) object(t *testing.T, scaled int64) {
	b.open(t, "#/object/deployments.apps/default/web?part=history")
	b.until(t, `document.querySelectorAll('.timeline > li').length > 3`)
	b.until(t, `[...document.querySelectorAll('.timeline > li')].some((li) => li.querySelector('a.rev').textContent === '%d' && [...li.querySelectorAll('.change')].some((c) =>
		c.querySelector('.path').textContent === 'spec.replicas' && c.querySelector('del').textContent === '1' && c.querySelector('ins').textContent === '4' && c.querySelector('.manager').textContent === 'kubectl'))`, scaled)
	b.do(t, chromedp.Click(".timeline summary"))
	b.until(t, `document.querySelector('.timeline .yaml').textContent.includes('image: nginx')`)
}

func (b *fixture) others(t *testing.T) {
	b.open(t, "#/watchers")
	b.until(t, `[...document.querySelectorAll('.row.watcher')].some((r) => r.textContent.includes('spec.nodeName=node-'))`)
	b.until(t, `document.querySelector('.count').textContent.includes('none behind')`)
	b.open(t, "#/queues")
	b.until(t, `[...document.querySelectorAll('.card')].some((c) => c.querySelector('h2').textContent === 'replicaset' && c.textContent.includes('p99'))`)
}

// screens: the page fits a narrow screen, and both themes have their colours.
func (b *fixture) screens(t *testing.T, scaled int64) {
	b.do(t, chromedp.EmulateViewport(390, 844))
	for _, place := range []string{"#/overview", "#/events", fmt.Sprintf("#/events/%d", scaled), fmt.Sprintf("#/events/%d/tree", scaled), "#/object/deployments.apps/default/web", "#/object/deployments.apps/default/web?part=yaml", "#/object/deployments.apps/default/web?part=history", "#/object/deployments.apps/default/stuck", "#/events?show=trees", fmt.Sprintf("#/compare/%d/%d", scaled, scaled), "#/watchers", "#/queues", "#/browse/pods", "#/browse/deployments.apps?of=default%2Fweb"} {
		b.open(t, place)
		b.until(t, `document.querySelector('#view > *')`)
		if wide := get[int](t, b, `document.scrollingElement.scrollWidth`); wide > 390 {
			t.Errorf("%s is %d wide", place, wide)
		}
	}
	b.do(t, chromedp.EmulateViewport(1360, 850))
	ground := func() string { return get[string](t, b, `getComputedStyle(document.body).backgroundColor`) }
	media := func(v string) {
		b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v}}))
	}
	media("light")
	light := ground()
	media("dark")
	dark := ground()
	b.do(t, chromedp.Click("#theme"))
	if light == dark || ground() != light {
		t.Errorf("light %s, dark %s, changed by hand %s", light, dark, ground())
	}
	b.do(t, chromedp.Click("#theme"))
}

// many: of ten thousand events only the visible rows are in the DOM, and one can scroll
// through all.
func (b *fixture) many(t *testing.T) {
	const n = 10000
	b.open(t, "#/events?text=")
	b.do(t, chromedp.Evaluate(`(() => {
		window.long = []; window.frames_ = [];
		new PerformanceObserver((l) => window.long.push(...l.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
		let last = performance.now();
		const tick = (now) => { window.frames_.push(now - last); last = now; if (!window.enough) requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
	})()`, nil))
	b.crowd(t, n)
	b.until(t, `document.querySelector('.list').textContent.includes('crowd-') && parseInt(document.querySelector('.count').textContent.replace(/\D/g, ''), 10) >= %d`, n)
	t.Log("while they arrived: ", get[string](t, b, `(() => {
		window.enough = true;
		const frames = window.frames_.sort((a, b) => a - b), at = (q) => frames[Math.floor(q * (frames.length - 1))].toFixed(1);
		return frames.length + ' frames, p50 ' + at(0.5) + ' p99 ' + at(0.99) + ' longest ' + at(1) + ' ms; ' + window.long.length + ' tasks above 50 ms, the longest ' + Math.max(0, ...window.long).toFixed(0) + ' ms';
	})()`))
	b.do(t, chromedp.Evaluate(`(async () => {
		const list = document.querySelector('.list'), begun = performance.now();
		let frames = 0, most = 0;
		for (let top = 0; top < list.scrollHeight; top += list.scrollHeight / 50) {
			list.scrollTop = top;
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			frames += 2;
			most = Math.max(most, list.querySelectorAll('.row').length);
		}
		window.most = most;
		window.frame = (performance.now() - begun) / frames;
	})()`, nil))
	b.until(t, `window.frame > 0`)
	frame := get[float64](t, b, `window.frame`)
	if most := get[int](t, b, `window.most`); most > 120 {
		t.Errorf("%d rows are drawn at once", most)
	}
	t.Logf("going through %d events: %.1f ms a frame", n, frame)
	b.do(t, chromedp.Focus(".list"))
	b.key(t, "G")
	b.until(t, `document.querySelector('.row.event.on')`)
}

// logout ends the session's open streams, not only its next requests.
func (b *fixture) logout(t *testing.T) {
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.pulse.live')`)
	b.do(t, chromedp.Evaluate(`(async () => {
		const res = await fetch('/debug/lives?follow=true', { headers: { 'X-Fairlead-Page': '1' } });
		window.stream = res.status;
		const reader = res.body.getReader();
		try { while (!(await reader.read()).done); } catch { /* cut off */ }
		window.stream = 'over';
	})()`, nil))
	b.until(t, `window.stream === 200`)
	b.do(t, chromedp.Evaluate(`fetch('/ui/logout', { method: 'POST', headers: { 'X-Fairlead-Page': '1' } })`, nil)) // as another tab does
	b.until(t, `window.stream === 'over' && document.querySelector('main').textContent.includes('The session is over')`)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.health.well, .health.ill')`)
	b.do(t, chromedp.Click("#leave"))
	b.until(t, `location.pathname === '/ui/login'`)
	b.do(t, chromedp.Navigate(b.cp.URL()+"/ui/"))
	b.until(t, `location.pathname === '/ui/login'`)
}
