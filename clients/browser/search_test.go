package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// search: Ctrl-K finds views, kinds by their short names, objects of all kinds, and events by their revision.
func (b *fixture) search(t *testing.T) {
	find := func(words, first string) {
		t.Helper()
		b.do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(input.ModifierCtrl)))
		b.until(t, `document.querySelector('#search[open]') && document.activeElement.getAttribute('role') === 'combobox'`)
		b.key(t, words)
		b.until(t, `document.querySelector('#search li[aria-selected=true]')?.textContent === %q`, first)
		for _, theme := range themes {
			b.theme(t, theme)
			b.legible(t, "search, "+theme)
		}
		b.key(t, kb.Enter)
		b.until(t, `!document.querySelector('#search[open]')`)
	}
	find("queu", "viewQueues")
	b.until(t, `location.hash === '#/queues'`)
	find("cm", "kindconfigmaps")
	b.until(t, `location.hash === '#/browse/configmaps'`)
	find("deploy web", "deploymentsdefault/web")
	b.until(t, `location.hash === '#/object/deployments.apps/default/web'`)
	find("node-2", "nodesnode-2")
	b.until(t, `location.hash === '#/object/nodes/-/node-2'`)

	b.do(t, chromedp.Click("#find"))
	b.until(t, `document.activeElement.getAttribute('role') === 'combobox'`)
	b.key(t, "nothing has this name")
	b.until(t, `document.querySelector('#search [role=status]').textContent === 'Nothing matches.'`)
	b.key(t, kb.Escape)
	b.until(t, `!document.querySelector('#search[open]')`)
}
