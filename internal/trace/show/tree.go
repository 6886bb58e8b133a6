package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"fairlead.dev/trace"
)

// Tree writes events as a tree of causes: each below the first event that caused it, with
// the time since the root began. Events whose cause is not in the list are roots. It fits a
// terminal of a number of columns, 0 for output that is not cut.
func Tree(w io.Writer, events []Event, p Palette, columns int) error {
	t := tree{l: layoutFor(columns), out: &strings.Builder{}, p: p, below: map[int64][]Event{}}
	known := map[int64]bool{}
	for _, e := range events {
		known[e.Revision] = true
	}
	var roots []Event
	for _, e := range events {
		if len(e.Causes) > 0 && known[e.Causes[0]] && e.Causes[0] != e.Revision {
			t.below[e.Causes[0]] = append(t.below[e.Causes[0]], e)
		} else {
			roots = append(roots, e)
		}
	}
	for _, e := range roots {
		t.began = e.Began
		t.write(e, "", "", "")
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

type tree struct {
	l     layout
	out   *strings.Builder
	p     Palette
	below map[int64][]Event
	began time.Time
}

func (t *tree) write(e Event, margin, fork, rest string) {
	stem := margin + fork
	what := fmt.Sprintf("%s %s %s", e.Type, e.Resource, object(e.Life))
	who := fmt.Sprintf("%d %s", e.Revision, by(e.Life))
	if t.l.columns > 0 {
		stem = clip(stem, t.l.tree-2)
		what = clip(what, t.l.tree-1-len([]rune(stem)))
		who = clip(who, max(t.l.columns-t.l.tree-timeWidth-2, 1))
	}
	pad := max(1, t.l.tree-len([]rune(stem))-len([]rune(what)))
	fmt.Fprintf(t.out, "%s%s%s%*s  %s\n", t.p.dim(stem), t.p.bold(what), strings.Repeat(" ", pad),
		timeWidth, span(e.Began.Sub(t.began)), t.p.dim(who))
	next := t.below[e.Revision]
	for i, c := range next {
		if i == len(next)-1 {
			t.write(c, margin+rest, "└─ ", "   ")
		} else {
			t.write(c, margin+rest, "├─ ", "│  ")
		}
	}
}

// by is the short form of origin.
func by(lf trace.Life) string {
	if lf.Verb == "" {
		return "the server"
	}
	who := lf.User[strings.LastIndexByte(lf.User, ':')+1:]
	if lf.Subresource != "" {
		return fmt.Sprintf("%s %s, %s", lf.Verb, lf.Subresource, who)
	}
	return lf.Verb + ", " + who
}
