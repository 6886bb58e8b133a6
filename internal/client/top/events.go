package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// events is the screen of the trace: events as they happen, the newest at the end.
type events struct {
	words  string
	beats  bool    // leases and node heartbeats are shown
	frozen []event // the events when the screen was paused; nil while it follows
	shown  []event
	cursor cursor
	stays  bool  // the user has left the newest event
	chosen int64 // the revision of the chosen event
	height int
}

func newEvents() *events { return &events{height: 10} }

func (s *events) open(m *Model) tea.Cmd {
	s.arrange(m)
	return nil
}

func (s *events) close() {}

func (s *events) update(m *Model, msg tea.Msg) tea.Cmd {
	if _, ok := msg.(batch[traced]); ok {
		s.arrange(m)
	}
	return nil
}

// arrange filters the events.
func (s *events) arrange(m *Model) {
	all := m.trace.events
	if s.frozen != nil {
		all = s.frozen
	}
	s.shown = s.shown[:0]
	words := strings.Fields(strings.ToLower(s.words))
	for _, e := range all {
		if (s.beats || !e.heartbeat()) && e.matches(words) {
			s.shown = append(s.shown, e)
		}
	}
	s.cursor.at = len(s.shown) - 1
	if s.stays {
		for s.cursor.at > 0 && s.shown[s.cursor.at].revision > s.chosen {
			s.cursor.at--
		}
	}
	s.cursor.keep(len(s.shown), s.height)
}

// matches reports whether an event has all the words, and lacks those with a minus.
func (e *event) matches(words []string) bool {
	r := row{cells: []string{fmt.Sprint(e.revision), e.kind, e.resource, e.object(), e.verb, e.user}}
	return r.matches(words)
}

func (s *events) key(m *Model, key string) (tea.Cmd, bool) {
	if s.cursor.move(key, len(s.shown), s.height) {
		s.stays = s.cursor.at < len(s.shown)-1
		if s.stays {
			s.chosen = s.shown[s.cursor.at].revision
		}
		return nil, true
	}
	switch key {
	case "/":
		return m.ask(newFilterPrompt("/", s.words, func(m *Model, words string) {
			s.words = words
			s.arrange(m)
		})), true
	case "h":
		s.beats = !s.beats
	case "p":
		if s.frozen == nil {
			s.frozen = append([]event{}, m.trace.events...)
		} else {
			s.frozen = nil
		}
	case "esc":
		if s.words == "" {
			return nil, false
		}
		s.words = ""
	case "enter", "c":
		if len(s.shown) > 0 {
			return m.push(newLife(s.shown[s.cursor.at], key == "c")), true
		}
	case "w":
		return s.inspect(m), true
	default:
		return nil, false
	}
	s.arrange(m)
	return nil, true
}

// inspect opens the object of the chosen event.
func (s *events) inspect(m *Model) tea.Cmd {
	if len(s.shown) == 0 {
		return nil
	}
	e := s.shown[s.cursor.at]
	r, ok := m.find(e.resource)
	if !ok {
		return nil
	}
	return m.inspect(object{kind: r, namespace: e.namespace, name: e.name}, "w")
}

func (s *events) title(*Model) string {
	text := "Events: " + number(len(s.shown))
	if s.beats {
		text += " with leases and heartbeats of nodes"
	}
	if s.frozen != nil {
		text += ", paused"
	}
	if s.words != "" {
		text += "  /" + s.words
	}
	return text
}

func (s *events) hints() []hint {
	beats := "show heartbeats"
	if s.beats {
		beats = "hide heartbeats"
	}
	pause := "pause"
	if s.frozen != nil {
		pause = "go on"
	}
	return []hint{{"Enter", "its life"}, {"c", "causes"}, {"w", "why"}, {"/", "filter"}, {"p", pause}, {"h", beats}, {"G", "newest"}}
}

func (s *events) draw(m *Model, w, h int) []string {
	switch {
	case m.trace.err != nil:
		return wrap(m.describe(m.trace.err), w)
	case !m.trace.opened:
		return []string{dim.of("reading…")}
	case len(s.shown) == 0:
		return []string{dim.of("No event yet.")}
	}
	s.height = max(1, h-1)
	s.cursor.keep(len(s.shown), s.height)
	from, to := s.cursor.visible(len(s.shown), s.height)
	l := eventLayout(s.shown[from:to], w)
	drawn := []string{dim.of(l.row("TIME", "REVISION", "EVENT", "OBJECT", "WRITTEN BY", "", "TOOK"))}
	for i := from; i < to; i++ {
		line := l.line(&s.shown[i])
		if i == s.cursor.at {
			line = reverse.of(fit(ansi.Strip(line), w))
		}
		drawn = append(drawn, line)
	}
	return drawn
}
