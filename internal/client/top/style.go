package top

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// style is the escape sequence that starts a style of text; "" is plain. The program's output drops the colours on a terminal
// without them and with NO_COLOR.
type style string

const (
	plain   style = ""
	bold    style = "\x1b[1m"
	dim     style = "\x1b[2m"
	reverse style = "\x1b[7m"
	red     style = "\x1b[31m"
	green   style = "\x1b[32m"
	yellow  style = "\x1b[33m"
	cyan    style = "\x1b[36m"

	endStyle = "\x1b[0m"
)

// of returns a text in the style.
func (s style) of(text string) string {
	if s == plain || text == "" {
		return text
	}
	return string(s) + text + endStyle
}

// width is the number of cells that a text takes on the terminal.
func width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// clip cuts a text that is wider than w cells.
func clip(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, "…")
}

// fit cuts or pads a text to w cells.
func fit(s string, w int) string {
	s = clip(s, w)
	return s + strings.Repeat(" ", max(0, w-width(s)))
}

// clipMiddle cuts a name that is wider than w cells in its middle: names that controllers make differ at their ends.
func clipMiddle(s string, w int) string {
	if n := width(s); n > w && w >= 12 {
		end := w / 2
		return ansi.Truncate(s, w-end, "…") + ansi.TruncateLeft(s, n-end, "")
	}
	return clip(s, w)
}

// between puts two texts at the ends of a line of w cells. The right one is dropped if both do not fit.
func between(left, right string, w int) string {
	if room := w - width(left) - width(right); room > 0 {
		return left + strings.Repeat(" ", room) + right
	}
	return fit(left, w)
}

// clean makes a text of the server harmless for the terminal: it has no escape sequences and no control characters.
func clean(s string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) }
	if !strings.ContainsFunc(s, odd) {
		return s
	}
	s = strings.ReplaceAll(ansi.Strip(s), "\t", "    ")
	return strings.Map(func(r rune) rune {
		if odd(r) {
			return -1
		}
		return r
	}, s)
}

// wrap breaks a line at w cells. Further rows are indented two cells more than the line, if it is wide enough, and have its style.
func wrap(line string, w int) []string {
	if width(line) <= w {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	hang := indent + 2
	if hang > w/2 {
		indent, hang = 0, 0
	}
	first, rest, _ := strings.Cut(ansi.Wrap(text, w-indent, ""), "\n")
	rows := []string{strings.Repeat(" ", indent) + first}
	open := openStyle("", first)
	if rest != "" {
		rest = strings.ReplaceAll(rest, "\n", " ")
		for row := range strings.SplitSeq(ansi.Wrap(rest, w-hang, ""), "\n") {
			rows = append(rows, strings.Repeat(" ", hang)+open+row)
			open = openStyle(open, row)
		}
	}
	for i := range rows {
		rows[i] += endStyle
	}
	return rows
}

// openStyle is the style at the end of a row that began in a style.
func openStyle(before, row string) string {
	if i := strings.LastIndex(row, "\x1b["); i >= 0 {
		if before = row[i : i+strings.IndexByte(row[i:], 'm')+1]; before == endStyle {
			return ""
		}
	}
	return before
}
