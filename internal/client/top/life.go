package top

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// life is the screen of one event: the hops of its life, or the tree of its causes.
type life struct {
	of    event
	tree  bool
	pager pager
	fresh refresher
	read  bool
	err   error
}

func newLife(e event, tree bool) *life { return &life{of: e, tree: tree} }

func (s *life) open(m *Model) tea.Cmd {
	id := m.id()
	s.fresh.ask(id, m.now)
	if s.tree {
		return m.link.tree(id, s.of.revision)
	}
	return m.link.life(id, s.of.revision)
}

func (s *life) close() {}

func (s *life) update(m *Model, msg tea.Msg) tea.Cmd {
	if _, ok := msg.(tick); ok && !s.read && s.err == nil && s.fresh.due(m.now) {
		return s.open(m) // there was no answer
	}
	a, ok := msg.(answer[text])
	if !ok || !s.fresh.answered(a.id, a.took) {
		return nil
	}
	s.fresh.changed = true
	refusal, ok := m.heard(a.err)
	if s.err = refusal; !ok {
		return nil
	}
	first := !s.read
	s.read = true
	if s.tree {
		mark(a.it)
		if first {
			s.pager.reveal(a.it.mark)
		}
	}
	s.pager.set(a.it.lines)
	return nil
}

// mark puts a sign before the line to show, and as much room before the others.
func mark(t text) {
	for i, line := range t.lines {
		sign := "  "
		if i == t.mark {
			sign = yellow.of("▶ ")
		}
		t.lines[i] = sign + line
	}
}

func (s *life) key(m *Model, key string) (tea.Cmd, bool) {
	if cmd, ok := s.pager.key(m, key); ok {
		return cmd, true
	}
	switch key {
	case "c", "enter":
		s.tree, s.read, s.pager = !s.tree, false, pager{}
		return s.open(m), true
	case "r":
		return s.open(m), true
	case "w":
		if r, ok := m.find(s.of.resource); ok {
			return m.inspect(object{kind: r, namespace: s.of.namespace, name: s.of.name}, "w"), true
		}
	}
	return nil, false
}

func (s *life) title(*Model) string {
	what := "The life of event"
	if s.tree {
		what = "The causes and effects of event"
	}
	text := fmt.Sprintf("%s %d: %s %s", what, s.of.revision, s.of.kind, s.of.subject())
	if place := s.pager.place(); place != "" {
		text += "  " + place
	}
	return text
}

func (s *life) hints() []hint {
	other := "causes"
	if s.tree {
		other = "its life"
	}
	return []hint{{"Esc", "back"}, {"c", other}, {"w", "why"}, {"r", "read again"}, {"/", "search"}, {"← →", "sideways"}}
}

func (s *life) draw(m *Model, w, h int) []string {
	switch {
	case s.err != nil:
		return wrap(red.of(m.describe(s.err)), w)
	case !s.read:
		return []string{dim.of("reading…")}
	}
	return s.pager.draw(w, h)
}
