package browser

import (
	"encoding/json"
	"testing"

	"fairlead.dev/client"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func quoted(text string) string {
	data, _ := json.Marshal(text) // of a string it cannot fail
	return string(data)
}

// TestStreams follows a log, uses a terminal and opens a port.
func TestStreams(t *testing.T) {
	b := newFixture(t)
	pods := client.For[*corev1.Pod](b.client).Namespace("default")
	if _, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "chat"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "talk", Image: "busybox", Command: []string{"sh", "-c", "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; while true; do echo tick; sleep 1; done"}, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}},
			{Name: "quiet", Image: "busybox", Command: []string{"sh", "-c", "echo hush; sleep 3600"}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, pods, "chat", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	b.enter(t, b.cp.PageURL())
	t.Run("logs", func(t *testing.T) { b.logs(t) })
	t.Run("many lines", func(t *testing.T) { b.manyLines(t) })
	t.Run("screen", func(t *testing.T) { b.screen(t) })
	t.Run("terminal", func(t *testing.T) { b.terminal(t) })
	t.Run("ports", func(t *testing.T) { b.ports(t) })
	t.Run("session", func(t *testing.T) { b.sessionOfTerminal(t) })
}

func (b *fixture) logs(t *testing.T) {
	b.open(t, "#/object/pods/default/chat?part=logs")
	b.until(t, `document.querySelector('.logtext').textContent.includes('line 299\ntick\n')`)
	b.until(t, `document.querySelector('.logs .command').textContent === 'kubectl -n default logs chat -c talk -f'`)
	ticks := `document.querySelector('.logtext').textContent.match(/tick/g).length`
	n := get[int](t, b, ticks)
	b.until(t, ticks+` > %d`, n+1) // it follows
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "logs, "+theme)
	}
	b.do(t, evaluate(`document.activeElement.blur()`))
	b.key(t, "p")
	b.until(t, `document.querySelector('.logs [role=status]').textContent.includes('since the pause')`)
	n = get[int](t, b, ticks)
	b.until(t, `/[2-9] new lines/.test(document.querySelector('.logs [role=status]').textContent)`)
	if now := get[int](t, b, ticks); now != n {
		t.Errorf("%d lines were added during the pause", now-n)
	}
	b.key(t, "p")
	b.until(t, ticks+` > %d`, n)
	b.do(t, chromedp.SendKeys(".logs input[type=search]", "line 12"))
	b.until(t, `document.querySelector('.logs [role=status]').textContent.includes('11 hits') && [...CSS.highlights.get('log-hit')].length === 11`)
	b.do(t, chromedp.Click(`.logs [title^="The time"]`))
	b.until(t, `/^\d{4}-\d\d-\d\dT\S+ line 0$/m.test(document.querySelector('.logtext').textContent)`)
	b.do(t, fill(`.logs [aria-label=Container]`, "quiet"))
	b.until(t, `document.querySelector('.logtext').textContent.includes('hush') && document.querySelector('.logs .command').textContent === 'kubectl -n default logs chat -c quiet -f --timestamps'`)
	b.do(t, chromedp.Click(`.logs [title^="The log of the container before"]`))
	b.until(t, `document.querySelector('.logs [role=status]').textContent.includes('previous terminated container')`)
}

// manyLines: of a flood of lines the last ten thousand are kept.
func (b *fixture) manyLines(t *testing.T) {
	b.do(t, evaluate(`import('/ui/assets/logtext.js').then(async ({ LogText, MAX_LINES }) => {
		const text = new LogText();
		document.querySelector('.logs').append(text.el);
		const begun = performance.now();
		let n = 0, most = 0;
		for (let i = 0; i < 60; i++) {
			text.add(Array.from({ length: 1000 }, () => 'flood \x1b[31m' + n++ + '\x1b[0m\n').join(''));
			const at = performance.now();
			await new Promise((done) => requestAnimationFrame(done));
			most = Math.max(most, performance.now() - at);
		}
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		window.flood = { count: text.count, dropped: text.dropped, max: MAX_LINES, last: text.all().trim().split('\n').pop(), all: text.count + text.dropped, took: performance.now() - begun, most };
		text.destroy();
		text.el.remove();
	})`))
	b.until(t, `window.flood`)
	if !get[bool](t, b, `window.flood.count >= window.flood.max && window.flood.count < window.flood.max + 250 && window.flood.all === 60000 && window.flood.last === 'flood 59999'`) {
		t.Error(get[string](t, b, `JSON.stringify(window.flood)`))
	}
	t.Log("60,000 lines: ", get[string](t, b, `JSON.stringify(window.flood)`))
}

// screen: the terminal's screen shows what xterm would.
func (b *fixture) screen(t *testing.T) {
	for _, x := range []struct{ name, wrote, want string }{
		{"lines", "a\r\nb\nc", "a|b| c"},
		{"return", "abc\rX", "Xbc"},
		{"backspace", "abc\b\b-", "a-c"},
		{"tab", "a\tb", "a       b"},
		{"wrap", "0123456789ABCDEFGHIJk", "0123456789ABCDEFGHIJ|k"},
		{"no wrap at the edge", "0123456789ABCDEFGHIJ\r\nk", "0123456789ABCDEFGHIJ|k"},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5"},
		{"cursor", "\x1b[2;3Hx\x1b[1;1Hy\x1b[3Bz\x1b[2Dw", "y|  x||wz"},
		{"erase line", "abcdef\x1b[3D\x1b[K", "abc"},
		{"erase its begin", "abcdef\x1b[3D\x1b[1K", "    ef"},
		{"erase screen", "a\r\nb\x1b[2J\x1b[Hc", "c"},
		{"erase below", "a\r\nb\r\nc\x1b[2;1H\x1b[J", "a"},
		{"delete and insert", "abcdef\x1b[1;2H\x1b[2P\x1b[@", "a def"},
		{"insert line", "a\r\nb\x1b[1;1H\x1b[L", "|a|b"},
		{"delete line", "a\r\nb\r\nc\x1b[1;1H\x1b[M", "b|c"},
		{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n", "1|3||4"},
		{"second screen", "a\x1b[?1049hvi\x1b[?1049l", "a"},
		{"title", "\x1b]0;title\x07a", "a"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;5;46mgreen\x1b[m", "[fg1 bold:red] [fg10:green]"},
		{"wide characters", "é😀x\b\b", "é😀x"},
	} {
		b.do(t, evaluate(`(window.got = undefined, import('/ui/assets/screen.js').then(({ Screen }) => {
			for (const cut of [1, 1000]) { // in single characters too
				const screen = new Screen(4, 20), all = `+quoted(x.wrote)+`;
				for (let i = 0; i < all.length; i += cut) screen.write(all.slice(i, i + cut));
				const now = screen.lines.map((l) => screen.spans(l).map((s) => s.look ? '[' + s.look + ':' + s.text + ']' : s.text).join('').trimEnd()).join('|').replace(/\|+$/, '');
				window.got = window.got === undefined || window.got === now ? now : window.got + ' or ' + now;
			}
		}))`))
		b.until(t, `window.got !== undefined`)
		if got := get[string](t, b, `window.got`); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func (b *fixture) terminal(t *testing.T) {
	b.open(t, "#/object/pods/default/chat?part=terminal")
	b.until(t, `document.querySelector('.terminal') && document.querySelector('[aria-label=Container]').value === 'talk'`)
	b.do(t, chromedp.Click(`.tools .primary`))
	b.until(t, `document.querySelector('.terminal .lines').textContent.includes('/ # ') && document.activeElement.matches('.keys')`)
	b.key(t, "echo $((6*7)) hello"+kb.Backspace+kb.Backspace+"p"+kb.Enter)
	b.until(t, `document.querySelector('.terminal .lines').textContent.includes('42 help')`)
	b.key(t, kb.ArrowUp)
	b.until(t, `document.querySelector('.terminal .lines').textContent.match(/echo/g).length === 2`)
	b.key(t, "ful"+kb.Enter)
	b.until(t, `document.querySelector('.terminal .lines').textContent.includes('42 helpful')`)
	b.key(t, `printf '\033[31mred\033[0m\n'`+kb.Enter)
	b.until(t, `document.querySelector('.terminal .fg1')?.textContent === 'red'`)
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "terminal, "+theme)
	}
	b.do(t, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8)))
	b.until(t, `!document.activeElement.matches('.keys')`)
	b.do(t, chromedp.Click(".terminal"))
	b.until(t, `document.activeElement.matches('.keys')`)
	b.key(t, "exit 3"+kb.Enter)
	b.until(t, `document.querySelector('[aria-label=Terminal] [role=status]').textContent.includes('exit code 3') && document.activeElement.matches('.primary')`)
	b.do(t, fill(`[aria-label=Command]`, "nothing-here"), chromedp.Click(`.tools .primary`))
	b.until(t, `document.querySelector('[aria-label=Terminal] [role=status].bad')`)
}

// ports: a pod's port opens in a tab of its own, whose scripts cannot act as the page.
func (b *fixture) ports(t *testing.T) {
	b.begin(t, "#/object/pods/default/chat", "ports")
	b.until(t, `document.querySelector('dialog .ports code').textContent === 'kubectl -n default port-forward pod/chat 8080:80'`)
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "ports, "+theme)
	}
	b.do(t, evaluate(`(window.open = () => window.opened = { close() {} })`), chromedp.Click(`dialog .ports li:first-child .choice button:last-child`))
	b.until(t, `window.opened?.location`)
	visit := get[string](t, b, `window.opened.location`)
	b.do(t, chromedp.Navigate(b.cp.URL()+visit))
	b.until(t, `document.body.innerText.includes('chat')`)
	if origin := get[string](t, b, `self.origin`); origin != "null" {
		t.Errorf("the pod's page has the origin %s", origin)
	}
	b.do(t, evaluate(`fetch('/api/v1/namespaces/default/secrets', { headers: { 'X-Fairlead-Page': '1' } }).then((r) => { window.answer = r.status; }, (err) => { window.answer = String(err); })`))
	b.until(t, `window.answer`)
	if answer := get[string](t, b, `String(window.answer)`); answer == "200" {
		t.Error("a pod's page acts as the page")
	}
	b.enter(t, b.cp.URL()+"/ui/")
}

// sessionOfTerminal: a terminal's connection ends with its session.
func (b *fixture) sessionOfTerminal(t *testing.T) {
	b.open(t, "#/overview")
	b.do(t, evaluate(`(() => {
		const socket = new WebSocket('wss://' + location.host + '/api/v1/namespaces/default/pods/chat/exec?container=talk&command=sh&stdin=true&stdout=true&tty=true', ['v5.channel.k8s.io']);
		socket.onmessage = () => { window.socket ||= 'open'; };
		socket.onclose = () => { window.socket = 'closed'; };
	})()`))
	b.until(t, `window.socket === 'open'`)
	b.do(t, evaluate(`fetch('/ui/logout', { method: 'POST', headers: { 'X-Fairlead-Page': '1' } })`))
	b.until(t, `window.socket === 'closed'`)
}
