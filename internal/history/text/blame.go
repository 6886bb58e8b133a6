package text

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairlead.dev/internal/history"
)

// maxWho bounds the column of names.
const maxWho = 28

// Blame writes an object as YAML, each line with the last change of its field.
func Blame(w io.Writer, b *history.Blame, s Style) error {
	all, err := lines(b.Object)
	if err != nil {
		return err
	}
	type margin struct{ revision, age, who string }
	margins := make([]margin, len(all))
	var width margin // of each column, as its longest text
	longer := func(a, b string) string {
		if utf8.RuneCountInString(b) > utf8.RuneCountInString(a) {
			return b
		}
		return a
	}
	for i, l := range all {
		if o, ok := b.Of(l.path); ok {
			margins[i] = margin{revision(o), s.age(o.Time()), cut(Who(o), maxWho)}
		}
		width = margin{longer(width.revision, margins[i].revision), longer(width.age, margins[i].age), longer(width.who, margins[i].who)}
	}
	var out strings.Builder
	for i, l := range all {
		m := margins[i]
		text := pad(m.revision, utf8.RuneCountInString(width.revision)+1) + pad(m.age, utf8.RuneCountInString(width.age)+1) + pad(m.who, utf8.RuneCountInString(width.who)+1)
		rest := cut("│ "+l.text, max(0, s.Width-utf8.RuneCountInString(text)))
		if s.Width == 0 {
			rest = "│ " + l.text
		}
		out.WriteString(s.Dim + text + s.End + rest + "\n")
	}
	_, err = io.WriteString(w, out.String())
	return err
}

func revision(o history.Origin) string {
	if o.State == nil {
		return "-"
	}
	return strconv.FormatInt(o.State.Revision, 10)
}

// Who names the user of a change, or else its field managers.
func Who(o history.Origin) string {
	switch {
	case o.State == nil:
		return orDash(o.Owner.Manager)
	case o.State.User != "":
		return shortUser(o.State.User)
	}
	return orDash(strings.Join(o.State.Managers, ","))
}
