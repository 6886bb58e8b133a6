package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// prompt is an input line with candidates that complete the text.
type prompt struct {
	label  string
	text   []rune
	at     int // of the cursor
	all    []string
	match  []string // of all, those that complete the text
	chosen int      // of match, -1 without

	begin    func(m *Model) tea.Cmd // reads the candidates
	complete func(m *Model, text string) (all []string)
	edited   func(m *Model, text string) tea.Cmd // after each change
	enter    func(m *Model, text string) tea.Cmd
	cancel   func(m *Model) tea.Cmd
}

func (p *prompt) open(m *Model) tea.Cmd {
	p.chosen = -1
	if p.begin == nil {
		return nil
	}
	return p.begin(m)
}

// key edits the line, or ends it.
func (p *prompt) key(m *Model, msg tea.KeyPressMsg) tea.Cmd {
	switch key := msg.String(); key {
	case "esc":
		m.prompt = nil
		if p.cancel != nil {
			return p.cancel(m)
		}
		return nil
	case "enter":
		return p.end(m)
	case "tab", "down":
		p.choose(1)
	case "shift+tab", "up":
		p.choose(-1)
	case "left", "ctrl+b":
		p.at = max(0, p.at-1)
	case "right", "ctrl+f":
		p.at = min(len(p.text), p.at+1)
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "backspace":
		if p.at == 0 && len(p.text) == 0 {
			m.prompt = nil
			return nil
		}
		return p.cut(m, p.at-1, p.at)
	case "delete", "ctrl+d":
		return p.cut(m, p.at, p.at+1)
	case "ctrl+u":
		return p.cut(m, 0, p.at)
	case "ctrl+w":
		from := strings.LastIndexByte(strings.TrimRight(string(p.text[:p.at]), " "), ' ') + 1
		return p.cut(m, len([]rune(string(p.text)[:from])), p.at)
	default:
		return p.insert(m, msg.Text)
	}
	return nil
}

func (p *prompt) insert(m *Model, s string) tea.Cmd {
	if s == "" {
		return nil
	}
	p.text = slices.Insert(p.text, p.at, []rune(s)...)
	p.at += len([]rune(s))
	return p.changed(m)
}

func (p *prompt) cut(m *Model, from, to int) tea.Cmd {
	from, to = max(0, from), min(len(p.text), to)
	if from < to {
		p.text = slices.Delete(p.text, from, to)
		p.at = from
	}
	return p.changed(m)
}

// changed finds the candidates for the text.
func (p *prompt) changed(m *Model) tea.Cmd {
	p.chosen = -1
	if p.complete != nil {
		p.match = p.complete(m, string(p.text))
	}
	if p.edited != nil {
		return p.edited(m, string(p.text))
	}
	return nil
}

// offer sets the candidates.
func (p *prompt) offer(m *Model, all []string) {
	p.all = all
	p.match = p.complete(m, string(p.text))
}

// choose moves through the candidates, and puts the chosen one into the line.
func (p *prompt) choose(step int) {
	if len(p.match) == 0 {
		return
	}
	if p.chosen < 0 && step < 0 {
		p.chosen = 0
	}
	p.chosen = (p.chosen + step + len(p.match)) % len(p.match)
	p.text = []rune(p.match[p.chosen])
	p.at = len(p.text)
}

func (p *prompt) end(m *Model) tea.Cmd {
	m.prompt = nil
	return p.enter(m, strings.TrimSpace(string(p.text)))
}

// draw draws the candidates and the line, and returns the place of the cursor in the line.
func (p *prompt) draw(w int) (candidates, line string, at int) {
	var b strings.Builder
	used := 0
	for i := max(0, p.chosen-2); i < len(p.match); i++ {
		name := " " + p.match[i] + " "
		if used += width(name); used > w-2 {
			b.WriteString(dim.of("…"))
			break
		}
		if i == p.chosen {
			b.WriteString(reverse.of(name))
		} else {
			b.WriteString(dim.of(name))
		}
	}
	text := string(p.text)
	before := p.label + string(p.text[:p.at])
	shift := max(0, width(before)-w+1)
	line = p.label + text
	if shift > 0 {
		line = string([]rune(line)[min(shift, len([]rune(line))):])
	}
	return b.String(), bold.of(clip(line, w)), min(width(before)-shift, w-1)
}

// prefixed returns the names that begin with a text.
func prefixed(all []string, text string) (match []string) {
	for _, name := range all {
		if strings.HasPrefix(name, text) {
			match = append(match, name)
		}
	}
	return match
}
