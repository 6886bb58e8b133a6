package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// addresses: the URL encodes the view, so that links and the Back button work.
func (b *fixture) addresses(t *testing.T, scaled int64) {
	b.open(t, "#/queues")
	b.until(t, `document.querySelector('.queues')`)
	b.open(t, "#/events?text=web&kind=deployments.apps&namespace=default")
	b.until(t, `document.querySelector('.log input').value === 'web' && document.querySelector('select[aria-label=Kind]').value === 'deployments.apps'
		&& [...document.querySelectorAll('.list .row.event .kind')].every((k) => k.textContent === 'deployments') && document.querySelectorAll('.list .row.event').length > 2`)
	b.open(t, fmt.Sprintf("#/events/%d/tree", scaled)) // the filter stays
	b.until(t, `location.hash === '#/events/%d/tree?text=web&kind=deployments.apps&namespace=default' && document.querySelectorAll('.row.node').length > 9`, scaled)
	b.open(t, "#/events?text=pods")
	b.until(t, `document.querySelector('.log input').value === 'pods' && document.querySelector('select[aria-label=Kind]').value === ''`)
	b.do(t, chromedp.Evaluate(`history.back()`, nil))
	b.until(t, `location.hash.startsWith('#/events/%d/tree?text=web') && document.querySelector('.log input').value === 'web' && document.querySelector('.side .tree')`, scaled)
	b.do(t, chromedp.Evaluate(`history.go(-2)`, nil))
	b.until(t, `location.hash === '#/queues' && document.querySelector('.queues')`)
	b.do(t, chromedp.Evaluate(`history.forward()`, nil))
	b.until(t, `document.querySelector('select[aria-label=Kind]')?.value === 'deployments.apps'`)
	b.do(t, chromedp.Reload())
	b.until(t, `document.querySelector('select[aria-label=Kind]')?.value === 'deployments.apps' && document.querySelectorAll('.list .row.event').length > 2 && document.title.includes('Events')`)
	b.until(t, `/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [+−]\d\d:\d\d$/.test(document.querySelector('.list .row.event .time').title)`)
	b.open(t, "#/watchers?text=scheduler")
	b.until(t, `document.querySelectorAll('.row.watcher').length > 0 && [...document.querySelectorAll('.row.watcher')].every((r) => r.textContent.includes('scheduler'))`)
	b.open(t, "#/watchers?text=")
	b.open(t, "#/events?text=")
	b.until(t, `location.hash === '#/events' && document.querySelector('.log input').value === ''`)
}
