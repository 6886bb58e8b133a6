package why

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
)

// Print writes an explanation as text.
func Print(w io.Writer, a Explanation, p show.Palette) error {
	var b strings.Builder
	write(&b, a, p, "")
	_, err := io.WriteString(w, b.String())
	return err
}

func write(b *strings.Builder, a Explanation, p show.Palette, margin string) {
	name := a.Name
	if a.Namespace != "" {
		name = a.Namespace + "/" + a.Name
	}
	fmt.Fprintf(b, "%s%s %s\n", margin, p.Bold+a.Kind+" "+name+p.End, a.State)
	for _, r := range a.Reasons {
		fmt.Fprintf(b, "%s  - %s\n", margin, r)
	}
	for _, l := range timeline(a) {
		fmt.Fprintf(b, "%s  %s\n", margin, p.Dim+clock(l.at)+"  "+l.text+p.End)
	}
	for _, part := range a.Parts {
		write(b, part, p, margin+"  ")
	}
}

// line is an entry with its time, which is zero for an entry that has not happened yet.
type line struct {
	at   time.Time
	text string
}

// timeline merges observations and Events in the order of time.
func timeline(a Explanation) []line {
	var all []line
	for _, s := range a.Observations {
		by := s.Who
		if s.Key != "" {
			by += " for " + s.Key
		}
		all = append(all, line{s.Time, fmt.Sprintf("%d seen by %s: %s", s.Revision, by, s.Decision)})
	}
	for _, n := range a.Notes {
		times := ""
		if n.Count > 1 {
			times = fmt.Sprintf(" (%d times)", n.Count)
		}
		all = append(all, line{n.Time, fmt.Sprintf("%s %s: %s%s", n.Type, n.Reason, n.Message, times)})
	}
	slices.SortStableFunc(all, func(a, b line) int { return later(a.at, b.at) })
	return all
}

// later compares two times. A zero time comes last.
func later(a, b time.Time) int {
	switch {
	case a.IsZero() == b.IsZero():
		return a.Compare(b)
	case a.IsZero():
		return 1
	}
	return -1
}

// clock formats a time of day, without milliseconds if it has none: the times of Kubernetes'
// Events are whole seconds.
func clock(at time.Time) string {
	switch {
	case at.IsZero():
		return "            "
	case at.Nanosecond() == 0:
		return at.Local().Format("15:04:05    ")
	}
	return at.Local().Format("15:04:05.000")
}
