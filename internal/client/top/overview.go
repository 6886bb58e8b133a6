package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/trace/why"
)

// overview is the first screen: the problems by their root causes, the rollouts, the nodes, and the rate of writes.
type overview struct {
	fresh  refresher
	survey why.Survey
	read   bool
	err    error
	cursor cursor // of the problems and the rollouts
	top    int    // the first visible line
}

// staleAfter is the age from which on the title has that of the survey.
const staleAfter = refreshPeriod + 5*time.Second

func newOverview() *overview { return &overview{} }

func (s *overview) open(m *Model) tea.Cmd {
	id := m.id()
	s.fresh.ask(id, m.now)
	return m.link.survey(id)
}

func (s *overview) close() {}

func (s *overview) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tick:
		if m.screen() == s && s.fresh.due(m.now) {
			return s.open(m)
		}
	case batch[traced]:
		s.fresh.changed = s.fresh.changed || changes(msg)
	case answer[why.Survey]:
		if !s.fresh.answered(msg.id, msg.took) {
			return nil
		}
		refusal, ok := m.heard(msg.err)
		if s.err = refusal; !ok {
			return nil
		}
		s.survey, s.read = msg.it, true
		s.cursor.keep(len(s.targets()), len(s.targets()))
	}
	return nil
}

// target is an object that can be opened.
type target struct{ resource, namespace, name string }

// targets are the objects of the problems, then those in progress.
func (s *overview) targets() (all []target) {
	for _, p := range s.survey.Problems {
		namespace, name, ok := strings.Cut(p.Objects[0], "/")
		if !ok {
			namespace, name = "", p.Objects[0]
		}
		all = append(all, target{p.Resource, namespace, name})
	}
	for _, r := range s.survey.Rollouts {
		all = append(all, target{r.Resource, r.Namespace, r.Name})
	}
	return all
}

func (s *overview) key(m *Model, key string) (tea.Cmd, bool) {
	all := s.targets()
	if s.cursor.move(key, len(all), len(all)) {
		return nil, true
	}
	switch key {
	case "enter", "w", "y", "e", "l":
		if s.cursor.at < len(all) {
			t := all[s.cursor.at]
			if r, ok := m.find(t.resource); ok {
				return m.inspect(object{kind: r, namespace: t.namespace, name: t.name}, key), true
			}
		}
		return nil, true
	}
	return nil, false
}

func (s *overview) title(m *Model) string {
	if !s.read {
		return "Overview"
	}
	state := "All is well"
	if n := len(s.survey.Problems); n > 0 {
		state = count(n, "problem")
	}
	text := fmt.Sprintf("%s: %s, %s", state, count(s.survey.Objects, "object"), count(len(s.survey.Nodes), "node"))
	if n := len(s.survey.Rollouts) + len(s.survey.Progress); n > 0 {
		text += fmt.Sprintf(", %d in progress", n)
	}
	if age := m.now.Sub(s.fresh.known); age > staleAfter {
		text += fmt.Sprintf(" (%s ago)", duration.HumanDuration(age))
	}
	return text
}

func (s *overview) hints() []hint {
	return []hint{{"Enter", "why"}, {"y", "YAML"}, {"o", "Overview"}, {"b", "Browse"}, {"t", "Trace"}, {":", "kind"}}
}
