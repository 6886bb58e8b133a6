package top

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
)

// row is an object with its cells.
type row struct {
	uid             types.UID
	namespace, name string
	created         time.Time
	deleting        bool
	cells           []string
}

// table holds the rows of a kind, and the arrangement of those that match the filter.
type table struct {
	columns []metav1.TableColumnDefinition
	rows    map[types.UID]*row
	shown   []*row
	widths  []int // of the widest cell of each column
	names   int   // the width of the widest namespace
	whole   bool  // the list is complete

	words string // filter
	sort  int    // a column; -1 is namespace and name
	down  bool   // descending
}

func newTable() *table { return &table{rows: map[types.UID]*row{}, sort: -1} }

// apply applies a change, without a new arrangement.
func (t *table) apply(c change) {
	if c.reset {
		clear(t.rows)
		t.widths, t.names, t.whole = nil, 0, false
	}
	if len(c.columns) > 0 {
		t.columns = c.columns
	}
	for i := range c.rows {
		t.rows[c.rows[i].uid] = &c.rows[i]
		t.measure(&c.rows[i])
	}
	for _, uid := range c.gone {
		delete(t.rows, uid)
	}
	t.whole = t.whole || c.whole
}

// measure widens the columns for a row.
func (t *table) measure(r *row) {
	t.names = max(t.names, width(r.namespace))
	for len(t.widths) < len(t.columns) {
		t.widths = append(t.widths, width(t.columns[len(t.widths)].Name))
	}
	for i := range min(len(r.cells), len(t.widths)) {
		t.widths[i] = max(t.widths[i], width(r.cells[i]))
	}
}

// arrange filters and sorts the rows.
func (t *table) arrange() {
	t.shown = t.shown[:0]
	words := strings.Fields(strings.ToLower(t.words))
	for _, r := range t.rows {
		if r.matches(words) {
			t.shown = append(t.shown, r)
		}
	}
	slices.SortFunc(t.shown, func(a, b *row) int {
		if t.sort >= 0 && t.sort < len(t.columns) {
			c := t.compare(a, b)
			if t.down {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		c := cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
		if t.sort < 0 && t.down {
			return -c
		}
		return c
	})
}

// matches reports whether a row has all the words, and lacks those with a minus.
func (r *row) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	all := strings.ToLower(r.namespace + " " + strings.Join(r.cells, " "))
	for _, w := range words {
		without, negative := strings.CutPrefix(w, "-")
		if negative && without != "" {
			if strings.Contains(all, without) {
				return false
			}
		} else if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

// compare compares two rows by the column of the order: times by age, numbers by value, other cells by text.
func (t *table) compare(a, b *row) int {
	if t.isAge(t.sort) {
		return b.created.Compare(a.created)
	}
	x, y := a.cell(t.sort), b.cell(t.sort)
	m, okM := leadingNumber(x)
	n, okN := leadingNumber(y)
	if okM && okN && m != n {
		return cmp.Compare(m, n)
	}
	return cmp.Compare(x, y)
}

// leadingNumber is the number that a cell begins with: 3 of "3/5" and of "3 (2m ago)".
func leadingNumber(s string) (float64, bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(s)
	}
	if end == 0 || end < len(s) && !strings.ContainsRune("/ %", rune(s[end])) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, err == nil
}

func (r *row) cell(i int) string {
	if i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// isAge reports whether a column has the objects' ages, which grow without an event.
func (t *table) isAge(i int) bool { return t.columns[i].Name == "Age" }

// value is the text of a cell now.
func (t *table) value(r *row, i int, now time.Time) string {
	if t.isAge(i) && !r.created.IsZero() {
		return duration.HumanDuration(max(0, now.Sub(r.created)))
	}
	return r.cell(i)
}
