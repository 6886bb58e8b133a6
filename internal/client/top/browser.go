package top

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
)

// browser is the screen of a kind's objects.
type browser struct {
	kind      client.APIResource
	namespace string
	table     *table
	cursor    cursor
	chosen    types.UID
	first     int // columns that are scrolled out
	more      bool
	height    int // of the rows, as drawn last
	id        int // of the stream
	stop      context.CancelFunc
	err       error
}

func newBrowser(r client.APIResource, namespace string) *browser {
	return &browser{kind: r, namespace: namespace, table: newTable(), height: 10}
}

func (b *browser) open(m *Model) tea.Cmd {
	ctx, stop := context.WithCancel(m.link.ctx)
	b.id, b.stop = m.id(), stop
	return m.link.follow(ctx, b.id, b.kind, b.namespace)
}

func (b *browser) close() { b.stop() }

func (b *browser) update(m *Model, msg tea.Msg) tea.Cmd {
	changes, ok := msg.(batch[change])
	if !ok || changes.id != b.id {
		return nil
	}
	for _, c := range changes.items {
		refusal, ok := m.heard(c.err)
		if b.err = refusal; ok {
			b.table.apply(c)
		}
	}
	b.arrange()
	return changes.next
}

// arrange arranges the rows, and keeps the chosen object chosen.
func (b *browser) arrange() {
	b.table.arrange()
	if i := slices.IndexFunc(b.table.shown, func(r *row) bool { return r.uid == b.chosen }); i >= 0 {
		b.cursor.at = i
	}
	b.choose()
}

func (b *browser) choose() {
	b.cursor.keep(len(b.table.shown), b.height)
	if b.cursor.at < len(b.table.shown) {
		b.chosen = b.table.shown[b.cursor.at].uid
	}
}

// current is the chosen object.
func (b *browser) current() (object, bool) {
	if b.cursor.at >= len(b.table.shown) {
		return object{}, false
	}
	r := b.table.shown[b.cursor.at]
	return object{kind: b.kind, namespace: r.namespace, name: r.name, uid: r.uid}, true
}

func (b *browser) key(m *Model, key string) (tea.Cmd, bool) {
	if b.cursor.move(key, len(b.table.shown), b.height) {
		b.choose()
		return nil, true
	}
	switch key {
	case "/":
		return m.ask(newFilterPrompt("/", b.table.words, func(_ *Model, words string) {
			b.table.words = words
			b.arrange()
		})), true
	case "<", ">":
		b.table.sort += map[string]int{"<": -1, ">": 1}[key]
		if n := len(b.table.columns); b.table.sort < -1 {
			b.table.sort = n - 1
		} else if b.table.sort >= n {
			b.table.sort = -1
		}
		b.arrange()
	case "r":
		b.table.down = !b.table.down
		b.arrange()
	case "left":
		b.first = max(0, b.first-1)
	case "right":
		if b.more {
			b.first++
		}
	case "esc":
		if b.table.words == "" {
			return nil, false
		}
		b.table.words = ""
		b.arrange()
	case "enter", "w", "d", "y", "e", "l", "ctrl+d":
		return b.act(m, key), true
	default:
		return nil, false
	}
	return nil, true
}

// act opens the chosen object, or asks to delete it.
func (b *browser) act(m *Model, key string) tea.Cmd {
	o, ok := b.current()
	if !ok {
		return nil
	}
	if key == "ctrl+d" {
		m.doom(o)
		return nil
	}
	return m.inspect(o, key)
}

func (b *browser) title(m *Model) string {
	t := b.table
	where := ""
	if b.kind.Namespaced {
		where = " in all namespaces"
		if b.namespace != "" {
			where = " in " + b.namespace
		}
	}
	many := count(len(t.rows), "object")
	if len(t.shown) != len(t.rows) {
		many = fmt.Sprintf("%s of %s", number(len(t.shown)), many)
	}
	if !t.whole && b.err == nil {
		many += ", reading…"
	}
	if t.words != "" {
		many += "  /" + t.words
	}
	return b.kind.GVR.GroupResource().String() + where + ": " + many
}

func (b *browser) hints() []hint {
	hints := []hint{{"Enter", "open"}, {"/", "filter"}, {":", "kind"}, {"n", "namespace"}, {"y", "YAML"}, {"e", "Events"}}
	if b.kind.Kind.Kind == "Pod" {
		hints = append(hints, hint{"l", "logs"})
	}
	return append(hints, hint{"< >", "sort"}, hint{"r", "reverse"}, hint{"← →", "columns"}, hint{"Ctrl-D", "delete"})
}

func (b *browser) draw(m *Model, w, h int) []string {
	t := b.table
	switch {
	case b.err != nil:
		return append(wrap(red.of(m.describe(b.err)), w), "", dim.of("n chooses a namespace, : another kind"))
	case t.whole && len(t.rows) == 0:
		return []string{dim.of("The server has no such objects here.")}
	case t.whole && len(t.shown) == 0:
		return []string{dim.of("No object has these words; Esc shows all.")}
	}
	b.height = max(1, h-1)
	b.cursor.keep(len(t.shown), b.height)
	columns, more := t.layout(w, b.first, b.kind.Namespaced && b.namespace == "")
	b.more = more
	drawn := []string{dim.of(t.heads(columns))}
	from, to := b.cursor.visible(len(t.shown), b.height)
	for i := from; i < to; i++ {
		line := t.line(t.shown[i], columns, m.now)
		if i == b.cursor.at {
			line = reverse.of(fit(ansi.Strip(line), w))
		}
		drawn = append(drawn, line)
	}
	return drawn
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// number groups digits by thousands: 10,000.
func number(n int) string {
	s := strconv.Itoa(n)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}
