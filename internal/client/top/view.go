package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// retrying ends the line about an outage.
const retrying = "; trying again"

// View draws the program on the whole terminal.
func (m *Model) View() tea.View {
	text, cursor := m.render()
	v := tea.NewView(text)
	v.AltScreen = true
	v.Cursor = cursor
	v.WindowTitle = "fairlead top " + m.host
	return v
}

// render draws all lines.
func (m *Model) render() (string, *tea.Cursor) {
	w, h := m.width, m.height
	s := m.screen()
	foot, at := m.foot(w)
	body := max(0, h-2-len(foot))
	rows := s.draw(m, w, max(1, body)) // before the title, which may have the place in a text
	drawn := append([]string{m.header(w), bold.of(fit(s.title(m), w))}, rows...)
	for len(drawn) < 2+body {
		drawn = append(drawn, "")
	}
	drawn = append(drawn[:2+body], foot...)
	for i := range drawn {
		drawn[i] = clip(drawn[i], w)
	}
	drawn = drawn[:min(len(drawn), h)]
	var cursor *tea.Cursor
	if at >= 0 {
		cursor = tea.NewCursor(at, len(drawn)-1)
	}
	return strings.Join(drawn, "\n"), cursor
}

// header names the views and the server.
func (m *Model) header(w int) string {
	var tabs strings.Builder
	for _, tab := range []struct {
		key, name string
		open      bool
	}{{"o", "Overview", is[*overview](m.stack[0])}, {"b", "Browse", is[*browser](m.stack[0])}, {"t", "Trace", is[*events](m.stack[0])}} {
		text := " " + tab.key + " " + tab.name + " "
		if tab.open {
			text = reverse.of(text)
		}
		tabs.WriteString(text)
	}
	namespace := "all namespaces"
	if m.namespace != "" {
		namespace = "namespace " + m.namespace
	}
	left := cyan.of("fairlead") + " " + tabs.String()
	if width(left)+width(m.host)+width(namespace)+4 <= w {
		return between(left, dim.of(m.host+"  "+namespace), w)
	}
	return between(left, dim.of(namespace), w)
}

func is[T screen](s screen) bool {
	_, ok := s.(T)
	return ok
}

// foot is the lines below the screen, and the column of the cursor in the last one, -1 without.
func (m *Model) foot(w int) (all []string, at int) {
	if m.outage != "" {
		all = append(all, red.of(clip(m.outage, max(0, w-len(retrying)))+retrying))
	}
	switch {
	case m.doomed != nil:
		return append(all, bold.of(yellow.of(clip("Delete "+m.doomed.String()+"? y deletes it, any other key does not", w)))), -1
	case m.prompt != nil:
		candidates, line, at := m.prompt.draw(w)
		return append(all, candidates, line), at
	case m.notice != "":
		return append(all, yellow.of(clip(m.notice, w))), -1
	}
	return append(all, m.hintLine(w)), -1
}

// hintLine names the keys of the screen, as many as fit.
func (m *Model) hintLine(w int) string {
	var b strings.Builder
	end := bold.of("?") + dim.of(" help ") + " " + bold.of("q") + dim.of(" quit")
	room := w - width(end) - 2
	for _, h := range m.screen().hints() {
		text := bold.of(h.key) + dim.of(" "+h.effect) + "  "
		if room -= width(text); room < 0 {
			break
		}
		b.WriteString(text)
	}
	return between(b.String(), end, w)
}
