package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axeFile is axe-core, which package.json names; npm ci installs it.
const axeFile = "node_modules/axe-core/axe.min.js"

// violations runs axe and returns a line for each element that breaks one of its rules.
const violations = `(async () => {
	const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], resultTypes: ['violations'] });
	return violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target.join(' ') + ' ' + n.html.slice(0, 160) + ' ' + [...n.any, ...n.all, ...n.none].map((c) => c.message).join('; ')));
})()`

// screen is a size of the window and a colour scheme.
type screen struct {
	name, theme   string
	width, height int64
}

var axeScreens = []screen{{"dark", "dark", 1440, 900}, {"light", "light", 1440, 900}, {"narrow", "dark", 390, 844}, {"narrow, light", "light", 390, 844}}

// TestAccessibility checks all views and dialogs by the rules of WCAG 2.1, levels A and AA, and by axe's best practices.
func TestAccessibility(t *testing.T) {
	b := newFixture(t)
	made, scaled := b.story(t, 4)
	b.stuck(t)
	b.harbour(t)
	b.do(t, chromedp.Navigate(b.cp.URL()+"/ui/login"))
	b.until(t, `document.querySelector('#form')`)
	b.axe(t, "login")
	b.enter(t, b.cp.PageURL())
	b.busy(t)
	for _, p := range b.places(t, made, scaled) {
		b.goTo(t, p)
		b.axe(t, p.name)
		b.do(t, evaluate(`document.querySelector('dialog[open]')?.close()`))
	}
	for name, open := range map[string]string{"keys": "#help", "search": "#find"} {
		b.do(t, chromedp.Click(open))
		b.until(t, `document.querySelector('#%s[open]')`, name)
		b.axe(t, name)
		b.key(t, kb.Escape)
		b.until(t, `!document.querySelector('#%s[open]')`, name)
	}
	b.do(t, evaluate(`dispatchEvent(new Event('session-over'))`))
	b.until(t, `document.querySelector('main').textContent.includes('The session is over')`)
	b.axe(t, "the end of the session")
}

// axe checks what the page shows, on all screens.
func (b *fixture) axe(t *testing.T, view string) {
	t.Helper()
	source, err := os.ReadFile(axeFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatal("no axe-core here: run npm ci in clients/browser")
	}
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Evaluate(string(source)+"; void 0", nil))
	for _, s := range axeScreens {
		b.on(t, s)
		var found []string
		b.do(t, chromedp.Evaluate(violations, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		for _, v := range found {
			t.Error(fmt.Sprintf("%s, %s: ", view, s.name), v)
		}
	}
	b.on(t, axeScreens[0])
}
