package why

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
)

// Answer is an Explanation or a Survey.
type Answer interface {
	// Print writes the answer as text.
	Print(w io.Writer, p show.Palette) error
}

// Print writes the state and its root causes, and then everything by which they were found.
func (a Explanation) Print(w io.Writer, p show.Palette) error {
	var b strings.Builder
	write(&b, a, p, "")
	_, err := io.WriteString(w, b.String())
	return err
}

func write(b *strings.Builder, a Explanation, p show.Palette, margin string) {
	about := Subject{Namespace: a.Namespace}
	first := ""
	if margin == "" && len(a.Causes) > 0 && a.Causes[0].Text != a.State {
		first = a.Causes[0].Text
		if a.Causes[0].Kind != a.Kind || !slices.Contains(a.Causes[0].Objects, about.path(a.Name)) {
			first = a.Causes[0].String()
		}
		first = ": " + first
	}
	fmt.Fprintf(b, "%s%s%s %s%s\n", margin, p.Bold+a.Kind+" "+about.path(a.Name)+p.End, alike(a.Alike), a.State, first)
	if margin == "" {
		writeCauses(b, a, p)
	}
	for _, r := range a.Reasons {
		if first != ": "+r {
			fmt.Fprintf(b, "%s  - %s\n", margin, r)
		}
	}
	for _, l := range timeline(a) {
		fmt.Fprintf(b, "%s  %s\n", margin, p.Dim+clock(l.at)+"  "+l.text+p.End)
	}
	for _, part := range a.Parts {
		write(b, part, p, margin+"  ")
	}
}

// writeCauses writes the further root causes, and the suggestion of each.
func writeCauses(b *strings.Builder, a Explanation, p show.Palette) {
	for i, c := range a.Causes {
		if i > 0 {
			fmt.Fprintf(b, "  and %s\n", c)
		}
		if c.Next != "" {
			fmt.Fprintf(b, "  %snext:%s %s\n", p.Bold, p.End, c.Next)
		}
	}
}

// String returns the cause with its objects: "4 pods: container web waits: ImagePullBackOff".
func (c Cause) String() string {
	if len(c.Objects) == 1 {
		return c.Kind + " " + c.Objects[0] + ": " + c.Text
	}
	return fmt.Sprintf("%d %ss: %s", len(c.Objects), strings.ToLower(c.Kind), c.Text)
}

// alike tells how many further objects have the same explanation.
func alike(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return " and " + names[0]
	default:
		return fmt.Sprintf(" and %d more like it", n)
	}
}

// maxAffected is how many of the objects that a problem affects are printed.
const maxAffected = 5

// Print writes the problems, and what is in progress.
func (s Survey) Print(w io.Writer, p show.Palette) error {
	var b strings.Builder
	for _, problem := range s.Problems {
		fmt.Fprintf(&b, "%s%s%s\n", p.Bold, problem.Cause, p.End)
		if len(problem.Affects) > 0 {
			var names []string
			for _, a := range problem.Affects[:min(len(problem.Affects), maxAffected)] {
				about := Subject{Namespace: a.Namespace}
				names = append(names, a.Kind+" "+about.path(a.Name))
			}
			if rest := len(problem.Affects) - maxAffected; rest > 0 {
				names = append(names, fmt.Sprintf("%d more", rest))
			}
			fmt.Fprintf(&b, "  affects: %s\n", strings.Join(names, ", "))
		}
		if problem.Next != "" {
			fmt.Fprintf(&b, "  next:    %s\n", problem.Next)
		}
		fmt.Fprintf(&b, "  %smore:    %s%s\n", p.Dim, problem.command(), p.End)
	}
	switch {
	case len(s.Problems) > 0:
	case len(s.Progress) > 0:
		fmt.Fprintf(&b, "No problem among %d objects.\n", s.Objects)
	default:
		fmt.Fprintf(&b, "All is well with %d objects.\n", s.Objects)
	}
	for i, c := range s.Progress {
		if i == 0 {
			fmt.Fprintf(&b, "%sIn progress:%s\n", p.Bold, p.End)
		}
		fmt.Fprintf(&b, "  %s\n", c.Cause)
	}
	if len(s.Forbidden) > 0 {
		fmt.Fprintf(&b, "Not looked at, because you may not list them: %s\n", strings.Join(s.Forbidden, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// command returns the command that explains an object with the cause.
func (c Cause) command() string {
	namespace, name, namespaced := strings.Cut(c.Objects[0], "/")
	if !namespaced {
		return "fairlead why " + strings.ToLower(c.Kind) + "/" + c.Objects[0]
	}
	return "fairlead why " + strings.ToLower(c.Kind) + "/" + name + " -n " + namespace
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
