package why

import (
	"fmt"
	"io"
	"strings"

	"fairlead.dev/trace/show"
)

// Print writes an answer for people.
func Print(w io.Writer, a Answer, p show.Palette) error {
	var b strings.Builder
	write(&b, a, p, "")
	_, err := io.WriteString(w, b.String())
	return err
}

func write(b *strings.Builder, a Answer, p show.Palette, margin string) {
	name := a.Name
	if a.Namespace != "" {
		name = a.Namespace + "/" + a.Name
	}
	fmt.Fprintf(b, "%s%s %s\n", margin, p.Bold+a.Kind+" "+name+p.End, a.State)
	for _, r := range a.Reasons {
		fmt.Fprintf(b, "%s  because %s\n", margin, r)
	}
	for _, s := range a.Saw {
		at := "            "
		if !s.Time.IsZero() {
			at = s.Time.Local().Format("15:04:05.000")
		}
		who := s.Who
		if s.Key != "" {
			who += " for " + s.Key
		}
		fmt.Fprintf(b, "%s  %s\n", margin, p.Dim+fmt.Sprintf("%s  %d seen by %s: %s", at, s.Revision, who, s.Decision)+p.End)
	}
	for _, n := range a.Notes {
		times := ""
		if n.Count > 1 {
			times = fmt.Sprintf(" (%d times)", n.Count)
		}
		fmt.Fprintf(b, "%s  %s\n", margin, p.Dim+fmt.Sprintf("%s  %s %s: %s%s", n.Time.Local().Format("15:04:05.000"), n.Type, n.Reason, n.Message, times)+p.End)
	}
	for _, part := range a.Parts {
		write(b, part, p, margin+"  ")
	}
}
