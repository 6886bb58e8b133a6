package top

import (
	"context"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
)

// part is a view of one object, by its key.
type part struct {
	key, name string
	ask       func(l *link, id int, o object) tea.Cmd // nil for logs
}

var parts = []part{
	{"w", "Why", (*link).explanation},
	{"y", "YAML", (*link).yaml},
	{"e", "Events", (*link).notes},
	{"l", "Logs", nil},
}

// inspector is the screen of one object.
type inspector struct {
	what  object
	part  part
	pager pager
	fresh refresher
	read  bool // the text has been read
	err   error

	containers containers // of a pod
	container  int
	previous   bool
	id         int // of the log's stream
	stop       context.CancelFunc
}

// newInspector makes the screen of an object, with the part of a key.
func newInspector(o object, key string) *inspector {
	i := &inspector{what: o, stop: func() {}}
	if !i.choose(key) {
		i.choose(parts[0].key)
	}
	return i
}

// choose sets the part of a key, if the object has it.
func (i *inspector) choose(key string) bool {
	for _, p := range parts {
		if p.key == key && (p.ask != nil || i.what.kind.Kind.Kind == "Pod") {
			i.part = p
			i.pager = pager{wraps: p.key == "w" || p.key == "e", tail: p.ask == nil}
			i.fresh, i.read, i.err = refresher{}, false, nil
			return true
		}
	}
	return false
}

func (i *inspector) open(m *Model) tea.Cmd {
	if i.part.ask == nil && len(i.containers) > 0 {
		return i.follow(m)
	}
	id := m.id()
	i.fresh.ask(id, m.now)
	if i.part.ask == nil {
		return m.link.containersOf(id, i.what)
	}
	return i.part.ask(m.link, id, i.what)
}

func (i *inspector) close() { i.stop() }

// follow opens the log of the chosen container.
func (i *inspector) follow(m *Model) tea.Cmd {
	i.stop()
	ctx, stop := context.WithCancel(m.link.ctx)
	i.id, i.stop = m.id(), stop
	i.pager = pager{tail: true, wraps: i.pager.wraps}
	i.read, i.err = false, nil
	return m.link.log(ctx, i.id, i.what, i.containers[i.container], i.previous)
}

func (i *inspector) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tick:
		if m.screen() == i && i.fresh.due(m.now) && (i.part.ask != nil || len(i.containers) == 0 && i.err == nil) {
			return i.open(m)
		}
	case batch[traced]:
		i.fresh.changed = i.fresh.changed || changes(msg)
	case answer[text]:
		if !i.fresh.answered(msg.id, msg.took) {
			return nil
		}
		refusal, ok := m.heard(msg.err)
		if i.err = refusal; ok {
			i.read = true
			i.pager.set(msg.it.lines)
		}
	case answer[containers]:
		if !i.fresh.answered(msg.id, msg.took) {
			return nil
		}
		refusal, ok := m.heard(msg.err)
		if i.err = refusal; ok && len(msg.it) > 0 {
			i.containers = msg.it
			return i.follow(m)
		}
	case batch[logLine]:
		return i.log(m, msg)
	}
	return nil
}

// log adds lines of the log.
func (i *inspector) log(m *Model, b batch[logLine]) tea.Cmd {
	if b.id != i.id {
		return nil
	}
	var lines []string
	for _, part := range b.items {
		switch {
		case part.err == nil:
			lines = append(lines, part.line)
		case part.err == io.EOF:
			lines = append(lines, dim.of("-- the log ends here; r reads it again"))
		default:
			if i.err, _ = m.heard(part.err); i.err == nil {
				lines = append(lines, dim.of("-- the log broke off; r reads it again"))
			}
		}
	}
	i.read = true
	i.pager.add(lines, maxLog)
	return b.next
}

func (i *inspector) key(m *Model, key string) (tea.Cmd, bool) {
	if cmd, ok := i.pager.key(m, key); ok {
		return cmd, true
	}
	logs := i.part.ask == nil && len(i.containers) > 0
	switch {
	case key == "ctrl+d":
		m.doom(i.what)
	case key == "r":
		return i.open(m), true
	case key == "c" && logs:
		i.container = (i.container + 1) % len(i.containers)
		return i.follow(m), true
	case key == "p" && logs:
		i.previous = !i.previous
		return i.follow(m), true
	case i.choose(key):
		i.stop()
		return i.open(m), true
	default:
		return nil, false
	}
	return nil, true
}

func (i *inspector) title(*Model) string {
	text := fmt.Sprintf("%s: %s", i.what, i.part.name)
	if i.part.ask == nil && len(i.containers) > 0 {
		text += " of container " + i.containers[i.container]
		if len(i.containers) > 1 {
			text += fmt.Sprintf(" (%d of %d)", i.container+1, len(i.containers))
		}
		if i.previous {
			text += ", before its last restart"
		}
	}
	if place := i.pager.place(); place != "" {
		text += "  " + place
	}
	return text
}

func (i *inspector) hints() []hint {
	hints := []hint{{"Esc", "back"}}
	for _, p := range parts {
		if p.key != i.part.key && (p.ask != nil || i.what.kind.Kind.Kind == "Pod") {
			hints = append(hints, hint{p.key, p.name})
		}
	}
	if i.part.ask == nil {
		hints = append(hints, hint{"c", "container"}, hint{"p", "previous"})
	}
	return append(hints, hint{"/", "search"}, hint{"z", "wrap"}, hint{"r", "read again"}, hint{"Ctrl-D", "delete"})
}

func (i *inspector) draw(m *Model, w, h int) []string {
	switch {
	case i.err != nil:
		return wrap(red.of(m.describe(i.err)), w)
	case !i.read:
		return []string{dim.of("reading…")}
	}
	return i.pager.draw(w, h)
}
