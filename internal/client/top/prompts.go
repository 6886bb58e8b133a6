package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// newKindPrompt asks for a kind, and perhaps a namespace.
func newKindPrompt() *prompt {
	return &prompt{
		label:    ":",
		begin:    func(m *Model) tea.Cmd { return m.link.kinds(m.id()) },
		complete: func(m *Model, text string) []string { return m.kindsLike(strings.ToLower(text)) },
		enter: func(m *Model, text string) tea.Cmd {
			name, namespace, narrowed := strings.Cut(strings.ToLower(text), " ")
			switch name {
			case "":
				return nil
			case "q", "quit", "q!":
				return tea.Quit
			case "overview":
				return m.show(newOverview())
			case "trace":
				return m.show(newEvents())
			}
			if _, ok := m.find(name); !ok {
				if like := m.kindsLike(name); len(like) > 0 {
					name = like[0]
				}
			}
			if narrowed {
				m.namespace = strings.TrimSpace(namespace)
			}
			return m.browse(name)
		},
	}
}

// kindsLike returns the kinds of which one name begins with a text: those by their plural name first, and those of the same
// plural name in further groups with their group.
func (m *Model) kindsLike(text string) []string {
	var by [2][]string
	seen := map[string]bool{}
	for _, r := range m.kinds {
		if !r.Preferred || !r.Can("list") {
			continue
		}
		name := r.GVR.Resource
		if seen[name] {
			name = r.GVR.GroupResource().String()
		}
		seen[name] = true
		if strings.HasPrefix(name, text) {
			by[0] = append(by[0], name)
		} else if len(prefixed(append([]string{r.Singular, strings.ToLower(r.Kind.Kind)}, r.ShortNames...), text)) > 0 {
			by[1] = append(by[1], name)
		}
	}
	for i := range by {
		slices.Sort(by[i])
	}
	return slices.Compact(append(by[0], by[1]...))
}

const allNamespaces = "(all)"

// newNamespacePrompt asks for a namespace.
func newNamespacePrompt() *prompt {
	p := &prompt{label: "namespace: "}
	p.begin = func(m *Model) tea.Cmd { return m.link.namespaces(m.id()) }
	p.complete = func(m *Model, text string) []string {
		return prefixed(append([]string{allNamespaces}, p.all...), text)
	}
	p.enter = func(m *Model, text string) tea.Cmd {
		if text == allNamespaces {
			text = ""
		}
		return m.narrow(text)
	}
	return p
}

// newFilterPrompt edits a filter or a search. set gets each text, and the one from before if the user gives up.
func newFilterPrompt(label, text string, set func(m *Model, text string)) *prompt {
	return &prompt{
		label: label, text: []rune(text), at: len([]rune(text)),
		edited: func(m *Model, text string) tea.Cmd { set(m, text); return nil },
		enter:  func(m *Model, text string) tea.Cmd { set(m, text); return nil },
		cancel: func(m *Model) tea.Cmd { set(m, ""); return nil },
	}
}
