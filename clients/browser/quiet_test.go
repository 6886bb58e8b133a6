package browser

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"fairlead.dev/trace"
)

// TestQuiet: an object without events in the trace is found, and its present state is
// shown. A retried conflict is not shown as a failure.
func TestQuiet(t *testing.T) {
	b := newFixtureWith(t, trace.Options{Events: 256}, 3)
	b.createConfigMap(t, "quiet")
	b.crowd(t, 600)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.health.well, .health.ill')`)

	t.Run("found", func(t *testing.T) {
		b.open(t, "#/browse/configmaps?namespace=default&words=quiet")
		b.until(t, `document.querySelectorAll('.list .row.cells').length === 1`)
		b.do(t, chromedp.Click(".list .row.cells"))
		b.until(t, `document.querySelector('.side .about b')?.textContent === 'default/quiet'`)
		if text := get[string](t, b, `[...document.querySelector('.side .body').childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data).join('')`); text != "" {
			t.Errorf("stray text %q", text)
		}
	})
	t.Run("shown", func(t *testing.T) {
		b.open(t, "#/object/configmaps/default/quiet?part=yaml")
		b.until(t, `document.querySelector('.yaml')?.textContent.includes('name: quiet')`)
	})
	t.Run("conflict", func(t *testing.T) {
		rev := b.lives.Newest()
		for _, conflict := range []bool{true, false} {
			w := &trace.Reconcile{Controller: fmt.Sprint("conflict-", conflict), Key: "default/quiet", Causes: []int64{rev}}
			_ = b.lives.Do(t.Context(), w, func(context.Context) error {
				w.Conflict = conflict
				return errors.New("Operation cannot be fulfilled")
			})
			rev-- // a conflict at the newest, a failure at the one before
		}
		b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.cp.PageURL()))
		b.until(t, `location.pathname === '/ui/' && document.querySelector('.health.well, .health.ill')`)
		b.open(t, "#/events")
		row := `document.querySelector('#e%d .outcome')`
		b.until(t, row+`?.textContent.endsWith('conflict, tried again') && !`+row+`.matches('.bad')`, rev+2, rev+2)
		b.until(t, row+`?.textContent.endsWith('failed') && `+row+`.matches('.bad')`, rev+1, rev+1)
		b.open(t, "#/queues")
		card := `[...document.querySelectorAll('.card')].find((c) => c.querySelector('h2').textContent === 'conflict-%t')`
		b.until(t, card+`?.textContent.includes('conflicts, tried again1') && !`+card+`.querySelector('.bad')`, true, true)
		b.until(t, card+`?.querySelector('.bad')`, false)
	})
}
