package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"fairlead.dev/client"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// overview: the first view is calm when all is well, groups what is not by root causes, shows rollouts and nodes, and plots the
// load over time.
func (b *fixture) overview(t *testing.T) {
	b.until(t, `document.querySelector('.health.well h2')?.textContent === 'All is well' && !document.querySelector('.problem') && document.querySelector('.rollouts').hidden`)
	b.until(t, `document.querySelectorAll('.machine').length === 3 && document.querySelector('.meter').textContent.includes('pods 4 of 330')`)

	b.stuck(t)
	b.until(t, `document.querySelectorAll('.problem').length === 1 && document.querySelector('.health.ill h2').textContent === '1 problem'`)
	b.until(t, `(() => { const text = document.querySelector('.problem').textContent; return text.includes('2 pods') && text.includes('Insufficient cpu') && text.includes("lower the pod's requests"); })()`)
	b.until(t, `document.querySelector('.problem .chip').getAttribute('href') === '#/object/deployments.apps/default/stuck'`)
	b.until(t, `document.querySelector('.rollout').textContent === 'deployment default/stuck0 of 2'`)

	b.until(t, `document.querySelector('.plot .line').getAttribute('points').split(' ').length > 1 && document.querySelectorAll('.plot .tick').length > 8`)
	b.do(t, chromedp.Click(`.ranges [data-ms="3600000"]`))
	b.until(t, `document.querySelector('.ranges [aria-pressed=true]').textContent === '1 h'`)
	at := get[[2]float64](t, b, `(() => { const plot = document.querySelector('.plot'); plot.scrollIntoView({ block: 'center' }); const r = plot.getBoundingClientRect(); return [r.right - 20, r.top + 40]; })()`)
	b.do(t, chromedp.ActionFunc(input.DispatchMouseEvent(input.MouseMoved, at[0], at[1]).Do))
	b.until(t, `/ at \d\d:\d\d:\d\d/.test(document.querySelector('.plotted .now').textContent)`)
	b.do(t, chromedp.Click(`.ranges [data-ms="300000"]`))

	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "overview with a problem, "+theme)
	}

	if err := client.For[*appsv1.Deployment](b.client).Namespace("default").Delete(t.Context(), "stuck", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('.health.well') && !document.querySelector('.problem')`)
}
