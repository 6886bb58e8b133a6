package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// pager shows a text of many lines.
type pager struct {
	lines []string
	wraps bool // long lines are broken; otherwise the text moves sideways
	tail  bool // the end stays visible

	rows      []string // the lines as broken for width
	width     int      // of rows; 0 if they are to be made again
	height    int
	top, left int
	words     string // search
}

// set replaces the text, and keeps the place in it.
func (p *pager) set(lines []string) {
	p.lines, p.width = lines, 0
}

// add appends lines, and drops the oldest above a limit.
func (p *pager) add(lines []string, limit int) {
	p.lines = append(p.lines, lines...)
	if extra := len(p.lines) - limit; extra > 0 {
		p.lines = append(p.lines[:0], p.lines[extra:]...)
		p.top = max(0, p.top-extra)
	}
	p.width = 0
}

// reveal makes a line visible.
func (p *pager) reveal(at int) {
	if at < p.top || at >= p.top+max(p.height, 1) {
		p.top = max(0, at-max(p.height, 1)/2)
	}
}

// layout breaks the lines for a width.
func (p *pager) layout(w, h int) {
	if p.width != w {
		p.width = w
		p.rows = p.lines
		if p.wraps {
			p.rows = nil
			for _, line := range p.lines {
				p.rows = append(p.rows, wrap(line, w)...)
			}
		}
	}
	p.height = h
	last := max(0, len(p.rows)-h)
	if p.tail {
		p.top = last
	}
	p.top = max(0, min(p.top, last))
}

// key moves in the text, or searches it. It reports whether the key is the pager's.
func (p *pager) key(m *Model, key string) (tea.Cmd, bool) {
	c := cursor{at: p.top}
	switch {
	case key == "/":
		return m.ask(newFilterPrompt("/", p.words, func(_ *Model, words string) {
			p.words = words
			p.find(p.top, 1)
		})), true
	case p.words != "" && (key == "n" || key == "N"):
		step := map[string]int{"n": 1, "N": -1}[key]
		p.find(p.top+step, step)
	case key == "esc" && p.words != "":
		p.words = ""
	case key == "z":
		p.wraps, p.width, p.left = !p.wraps, 0, 0
	case key == "left":
		p.left = max(0, p.left-8)
	case key == "right" && !p.wraps:
		p.left = min(p.left+8, max(0, p.widest()-p.width))
	case c.move(key, len(p.rows), p.height):
		last := max(0, len(p.rows)-p.height)
		p.tail = p.tail && c.at >= last || key == "G" || key == "end"
		p.top = min(c.at, last)
	default:
		return nil, false
	}
	return nil, true
}

// widest is the width of the widest visible row.
func (p *pager) widest() (most int) {
	for _, row := range p.visible() {
		most = max(most, width(row))
	}
	return most
}

func (p *pager) visible() []string {
	return p.rows[min(p.top, len(p.rows)):min(len(p.rows), p.top+p.height)]
}

// find moves to the next row from a place on that has the words, in a direction; it goes on at the other end.
func (p *pager) find(from, step int) {
	n := len(p.rows)
	if p.words == "" || n == 0 {
		return
	}
	for i := range n {
		at := ((from+i*step)%n + n) % n
		if p.has(p.rows[at]) {
			p.tail, p.top = false, at
			return
		}
	}
}

func (p *pager) has(row string) bool {
	return strings.Contains(strings.ToLower(ansi.Strip(row)), strings.ToLower(p.words))
}

// place describes the visible part.
func (p *pager) place() string {
	if p.words != "" {
		return fmt.Sprintf("/%s: %s", p.words, count(p.hits(), "line"))
	}
	if len(p.rows) <= p.height {
		return ""
	}
	return fmt.Sprintf("%s-%s of %s", number(p.top+1), number(min(len(p.rows), p.top+p.height)), number(len(p.rows)))
}

func (p *pager) hits() (n int) {
	for _, row := range p.rows {
		if p.has(row) {
			n++
		}
	}
	return n
}

// draw draws the visible part.
func (p *pager) draw(w, h int) []string {
	p.layout(w, h)
	drawn := slices.Clone(p.visible())
	for i, row := range drawn {
		if p.words != "" && p.has(row) {
			row = p.highlight(ansi.Strip(row))
		}
		if p.left > 0 {
			row = ansi.Cut(row, p.left, p.left+w)
		}
		drawn[i] = row
	}
	return drawn
}

// highlight marks the words in a row.
func (p *pager) highlight(row string) string {
	lower, words := strings.ToLower(row), strings.ToLower(p.words)
	if len(lower) != len(row) {
		return reverse.of(row) // other letters in lower case are longer
	}
	var b strings.Builder
	for {
		i := strings.Index(lower, words)
		if i < 0 {
			return b.String() + row
		}
		b.WriteString(row[:i] + reverse.of(row[i:i+len(words)]))
		row, lower = row[i+len(words):], lower[i+len(words):]
	}
}
