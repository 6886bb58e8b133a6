package top

import (
	tea "charm.land/bubbletea/v2"
)

// key handles a key.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	if key == "ctrl+z" {
		return tea.Suspend
	}
	if m.doomed != nil {
		return m.confirm(key)
	}
	if m.prompt != nil {
		return m.prompt.key(m, msg)
	}
	m.notice = ""
	if cmd, ok := m.screen().key(m, key); ok {
		return cmd
	}
	switch key {
	case "q":
		return tea.Quit
	case "?":
		return m.push(newHelp(m.screen()))
	case "esc", "backspace":
		m.pop()
	case "o":
		return m.show(newOverview())
	case "b":
		return m.browse(m.resource)
	case "t":
		return m.show(newEvents())
	case ":":
		return m.ask(newKindPrompt())
	case "n":
		return m.ask(newNamespacePrompt())
	case "0":
		return m.narrow("")
	}
	return nil
}

// ask opens an input line.
func (m *Model) ask(p *prompt) tea.Cmd {
	m.prompt = p
	return tea.Batch(p.open(m), p.changed(m))
}

// narrow shows the objects of a namespace, or of all.
func (m *Model) narrow(namespace string) tea.Cmd {
	m.namespace = namespace
	if _, ok := m.stack[0].(*browser); ok {
		return m.browse(m.resource)
	}
	return nil
}

// browse shows the objects of a kind.
func (m *Model) browse(name string) tea.Cmd {
	r, ok := m.find(name)
	if !ok || !r.Can("list") {
		m.notice = "The server has no kind " + name + " that it lists"
		return nil
	}
	m.resource = r.GVR.GroupResource().String()
	return m.show(newBrowser(r, m.namespace))
}

// inspect opens an object on one of its parts.
func (m *Model) inspect(o object, part string) tea.Cmd { return m.push(newInspector(o, part)) }

// doom asks to confirm the deletion of an object.
func (m *Model) doom(o object) {
	if !o.kind.Can("delete") {
		m.notice = "The server does not delete " + o.kind.GVR.Resource
		return
	}
	m.doomed = &o
}

// confirm handles the answer to the question of doom.
func (m *Model) confirm(key string) tea.Cmd {
	o := *m.doomed
	m.doomed = nil
	if key != "y" {
		m.notice = "Nothing was deleted"
		return nil
	}
	m.notice = "Deleting " + o.String() + "…"
	return m.link.remove(m.id(), o)
}
