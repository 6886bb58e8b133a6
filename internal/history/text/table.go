package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairlead.dev/internal/history"
)

// Table writes states as a table, one a line. wide adds the client and leaves nothing out.
func Table(w io.Writer, states []history.State, s Style, wide bool) error {
	heads := []string{"REVISION", "TIME", "AGE", "WHAT", "USER", "MANAGER", "CAUSE", "CHANGED"}
	if wide {
		heads, s.Width = append(heads[:7:7], "CLIENT", "CHANGED"), 0
	}
	rows := [][]string{heads}
	for i := range states {
		rows = append(rows, row(&states[i], s, wide))
	}
	widths := make([]int, len(heads))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for n, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			if i == len(r)-1 {
				b.WriteString(cell)
				break
			}
			b.WriteString(pad(cell, widths[i]+2))
		}
		text := s.fit(strings.TrimRight(b.String(), " "))
		if n == 0 {
			text = s.Bold + text + s.End
		}
		out.WriteString(text + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func row(st *history.State, s Style, wide bool) []string {
	cells := []string{strconv.FormatInt(st.Revision, 10), s.clock(st), s.age(st.Time), What(st), orDash(st.User), orDash(strings.Join(st.Managers, ",")), cause(st)}
	if wide {
		return append(cells, orDash(st.Agent), changed(st, st.Fields))
	}
	cells[4] = orDash(shortUser(st.User))
	return append(cells, changed(st, shorten(st.Fields)))
}

// What returns the name of the write that made a state: patch scale.
func What(st *history.State) string {
	if st.Verb == "" {
		return map[string]string{history.Added: "created", history.Modified: "changed", history.Deleted: "deleted"}[st.Type]
	}
	if st.Subresource != "" {
		return st.Verb + " " + st.Subresource
	}
	return st.Verb
}

func cause(st *history.State) string {
	switch len(st.Causes) {
	case 0:
		return "-"
	case 1:
		return strconv.FormatInt(st.Causes[0], 10)
	}
	return fmt.Sprintf("%d+%d", st.Causes[0], len(st.Causes)-1)
}

func changed(st *history.State, fields []string) string {
	if st.Error != "" {
		return "unreadable: " + st.Error
	}
	text := strings.Join(fields, ", ")
	if st.MoreFields > 0 {
		text += fmt.Sprintf(", and %d more", st.MoreFields)
	}
	return orDash(text)
}

// shorten gives one entry to fields that are only parts of the status.
func shorten(fields []string) (short []string) {
	status := 0
	for _, f := range fields {
		if strings.HasPrefix(f, "status.") {
			status++
			continue
		}
		short = append(short, f)
	}
	switch {
	case status > 2:
		short = append(short, fmt.Sprintf("status (%d fields)", status))
	case status > 0:
		short = append(short, fields[len(fields)-status:]...)
	}
	return short
}
