package text

import (
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/history"
)

// Style is how text is written.
type Style struct {
	// Width is the terminal's, 0 for lines of any length.
	Width int
	// Bold, Dim, Added, Removed and End are the terminal's escape sequences; empty ones write plain
	// text.
	Bold, Dim, Added, Removed, End string
	// Now is the time from which ages count.
	Now time.Time
}

// Colored returns the style with colors.
func (s Style) Colored() Style {
	s.Bold, s.Dim, s.Added, s.Removed, s.End = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[0m"
	return s
}

// fit cuts a line to the width.
func (s Style) fit(line string) string { return cut(line, s.Width) }

// cut cuts text to n runes, if n is not 0.
func cut(text string, n int) string {
	if n <= 0 || utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// pad fills text up to n runes.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text)))
}

func (s Style) age(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return duration.HumanDuration(s.Now.Sub(at))
}

// clock formats the time of a state: the time of day, and the date if it was more than a day ago.
// A time that is not exact has a tilde.
func (s Style) clock(st *history.State) string {
	if st.Time.IsZero() {
		return "-"
	}
	layout := time.TimeOnly
	if s.Now.Sub(st.Time) > 24*time.Hour {
		layout = time.DateTime
	}
	text := st.Time.Local().Format(layout)
	if !st.After.IsZero() {
		text = "~" + text
	}
	return text
}

// shortUser leaves out the prefixes of Kubernetes' own users.
func shortUser(user string) string {
	for _, prefix := range []string{"system:serviceaccount:kube-system:", "system:serviceaccount:", "system:"} {
		if rest, ok := strings.CutPrefix(user, prefix); ok {
			return rest
		}
	}
	return user
}

// orDash returns text, or a dash in place of an empty one.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
