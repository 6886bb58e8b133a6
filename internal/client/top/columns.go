package top

import (
	"strings"
	"time"
)

const (
	gap       = 2  // cells between columns
	minColumn = 10 // to which a wide column shrinks
	minName   = 18 // to which that of the names shrinks
)

// column is a visible column. at is its index in the table; -1 is the namespace.
type column struct{ at, width int }

// spare is the width that the column can do without.
func (c column) spare() int {
	if c.at == 0 {
		return c.width - minName
	}
	return c.width - minColumn
}

// layout chooses the columns that fit into w cells, from the first one on: those that kubectl prints, and, if there is room,
// those of its wide output. Long columns shrink before others are left out.
func (t *table) layout(w, first int, namespaces bool) (all []column, more bool) {
	var wide []column
	if namespaces {
		all = append(all, column{-1, max(t.names, len("NAMESPACE"))})
	}
	for i := range t.columns {
		c := column{i, min(t.width(i), w)}
		switch {
		case i > 0 && i <= first: // scrolled out, behind the name
		case t.columns[i].Priority > 0:
			wide = append(wide, c)
		default:
			all = append(all, c)
		}
	}
	used := total(all)
	for used > w {
		widest := 0
		for i, c := range all {
			if c.spare() > all[widest].spare() {
				widest = i
			}
		}
		if all[widest].spare() <= 0 {
			break
		}
		all[widest].width--
		used--
	}
	for used > w && len(all) > 1 {
		used -= all[len(all)-1].width + gap
		all, more = all[:len(all)-1], true
	}
	for _, c := range wide {
		if more || used+gap+c.width > w {
			break
		}
		used += gap + c.width
		all = append(all, c)
	}
	return all, more
}

func total(all []column) int {
	sum := -gap
	for _, c := range all {
		sum += c.width + gap
	}
	return sum
}

// width is a column's natural width. The name of the order's column has an arrow.
func (t *table) width(i int) int {
	name := width(t.columns[i].Name)
	if i == t.sort {
		name++
	}
	if i < len(t.widths) {
		return max(name, t.widths[i])
	}
	return name
}

// heads draws the names of the columns, with an arrow at the order's.
func (t *table) heads(columns []column) string {
	var parts []string
	for _, c := range columns {
		name := "NAMESPACE"
		if c.at >= 0 {
			name = strings.ToUpper(t.columns[c.at].Name)
		}
		if c.at == t.sort && (c.at >= 0 || t.down) {
			name = clip(name, c.width-1) + map[bool]string{false: "↑", true: "↓"}[t.down]
		}
		parts = append(parts, fit(name, c.width))
	}
	return strings.Join(parts, strings.Repeat(" ", gap))
}

// line draws a row.
func (t *table) line(r *row, columns []column, now time.Time) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(repeat(" ", gap))
		}
		if c.at < 0 {
			b.WriteString(dim.of(fit(r.namespace, c.width)))
			continue
		}
		cell := t.value(r, c.at, now)
		if c.at == 0 {
			b.WriteString(fit(clipMiddle(cell, c.width), c.width))
			continue
		}
		s := tone(t.columns[c.at].Name, cell)
		if r.deleting && s == green {
			s = yellow
		}
		b.WriteString(s.of(fit(cell, c.width)))
	}
	return b.String()
}
