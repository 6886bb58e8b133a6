package show

import (
	"fmt"
	"strings"
	"time"
)

// The widths of the columns of a waterfall, on a terminal that has room for them.
const (
	nameWidth  = 46
	barWidth   = 32
	timeWidth  = 9
	noteIndent = 6
	// treeWidth is the column at which a tree's times begin.
	treeWidth = 74
)

// layout has the widths of a line's parts, in columns of the terminal.
type layout struct{ columns, name, bar, tree int }

// layoutFor is the layout for a terminal of a width, 0 for output that is not cut.
func layoutFor(columns int) layout {
	l := layout{columns, nameWidth, barWidth, treeWidth}
	if columns <= 0 {
		return l
	}
	const gaps = 2 + 1 + timeWidth + 2 // before the name, the time, and the bar
	if columns < gaps+nameWidth+barWidth {
		if l.bar = min(barWidth, columns/4); columns < 40 {
			l.bar = 0
		}
		l.name = max(columns-gaps-l.bar, 6)
	}
	// A third of the line, 36 columns at most, is for the writer.
	l.tree = min(treeWidth, max(columns-timeWidth-2-min(36, columns/3), 8))
	return l
}

// fit cuts a line to the width of the terminal.
func (l layout) fit(s string) string {
	if l.columns <= 0 {
		return s
	}
	return clip(s, l.columns)
}

// row is a line of a waterfall, and another for its note if the first has no room.
func (l layout) row(r row, total time.Duration) string {
	line := fmt.Sprintf("  %-*s %*s  %s", l.name, clip(r.name, l.name), timeWidth, span(r.to), bar(r.from, r.to, total, l.bar))
	if r.note == "" {
		return l.fit(strings.TrimRight(line, " ")) + "\n"
	}
	if whole := line + " " + r.note; l.columns <= 0 || len([]rune(whole)) <= l.columns {
		return whole + "\n"
	}
	return l.fit(strings.TrimRight(line, " ")) + "\n" + l.fit(strings.Repeat(" ", noteIndent)+r.note) + "\n"
}

// bar draws from and to on a scale of a width.
func bar(from, to, total time.Duration, width int) string {
	if width == 0 {
		return ""
	}
	at := func(d time.Duration) int { return int(min(max(d, 0), total) * time.Duration(width) / total) }
	a, z := min(at(from), width-1), at(to)
	return strings.Repeat("·", a) + strings.Repeat("█", max(z-a, 1)) + strings.Repeat("·", max(width-max(z, a+1), 0))
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
