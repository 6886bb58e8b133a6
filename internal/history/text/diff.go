package text

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"fairlead.dev/internal/history"
)

// Side is one of the two states of a difference: an object, or its absence.
type Side struct {
	Label  string
	Object map[string]any
}

// Diff writes the difference between two states as a unified diff of their YAML; nothing if they are
// equal.
func Diff(w io.Writer, from, to Side, s Style) error {
	a, err := plain(from.Object)
	if err != nil {
		return err
	}
	b, err := plain(to.Object)
	if err != nil {
		return err
	}
	_, unified, _ := strings.Cut(string(diff.Diff(from.Label, []byte(a), to.Label, []byte(b))), "\n") // without its line "diff FROM TO"
	var out strings.Builder
	for line := range strings.Lines(unified) {
		line = strings.TrimRight(line, "\n")
		color := ""
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			color = s.Bold
		case strings.HasPrefix(line, "@@"):
			color = s.Dim
		case strings.HasPrefix(line, "-"):
			color = s.Removed
		case strings.HasPrefix(line, "+"):
			color = s.Added
		}
		if color != "" {
			line = color + line + s.End
		}
		out.WriteString(line + "\n")
	}
	_, err = io.WriteString(w, out.String())
	return err
}

// Fields writes changes as a table, one a line.
func Fields(w io.Writer, changes []history.Change, s Style) error {
	width := len("FIELD")
	for _, c := range changes {
		width = max(width, utf8.RuneCountInString(c.Path.String()))
	}
	if s.Width > 0 {
		width = min(width, s.Width/2)
	}
	var out strings.Builder
	out.WriteString(s.Bold + pad("FIELD", width+2) + "CHANGE" + s.End + "\n")
	for _, c := range changes {
		from, to := scalar(c.From), scalar(c.To)
		if s.Width > 0 {
			room := max(12, (s.Width-width-6)/2)
			from, to = cut(from, room), cut(to, room)
		}
		change := s.Removed + from + s.End + " -> " + s.Added + to + s.End
		switch {
		case c.From == nil:
			change = s.Added + "+ " + to + s.End
		case c.To == nil:
			change = s.Removed + "- " + from + s.End
		}
		fmt.Fprintf(&out, "%s%s\n", pad(cut(c.Path.String(), width), width+2), change)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// scalar formats a value in one line.
func scalar(v any) string {
	if text, ok := v.(string); ok && !strings.ContainsAny(text, "\n\t") {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
