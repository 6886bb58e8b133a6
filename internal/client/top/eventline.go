package top

import (
	"fmt"
	"strings"
	"time"
)

// eventColumns are the widths of the columns that depend on the screen. A width of 0 leaves a column out.
type eventColumns struct{ at, revision, what, by, note int }

const (
	kindWidth = len("MODIFIED")
	tookWidth = len("9999 ms")
)

// eventLayout divides the screen by the visible events.
func eventLayout(all []event, w int) eventColumns {
	l := eventColumns{at: len("15:04:05.000"), revision: len("REVISION"), what: len("OBJECT"), by: len("WRITTEN BY")}
	for i := range all {
		l.revision = max(l.revision, len(fmt.Sprint(all[i].revision)))
		l.what = max(l.what, width(all[i].subject()))
		l.by = max(l.by, width(all[i].by()))
		if text, _ := all[i].note(); text != "" {
			l.note = len("FAILED")
		}
	}
	if w < 80 {
		l.at, l.by, l.revision = len("15:04:05"), 0, 0
	}
	room := w - kindWidth - tookWidth - 2*gap
	for _, fixed := range []int{l.at, l.revision, l.note} {
		if fixed > 0 {
			room -= fixed + gap
		}
	}
	if l.by > 0 {
		room -= gap
	}
	if l.what+l.by > room {
		l.by = min(l.by, max(room*2/5, room-l.what))
		l.what = max(1, room-l.by)
	}
	return l
}

// row joins cells, which have their styles already.
func (l eventColumns) row(at, revision, kind, what, by, note, took string) string {
	cells := []string{fit(at, l.at)}
	if l.revision > 0 {
		cells = append(cells, fmt.Sprintf("%*s", l.revision, revision))
	}
	cells = append(cells, fit(kind, kindWidth), fit(clipMiddle(what, l.what), l.what))
	if l.by > 0 {
		cells = append(cells, fit(by, l.by))
	}
	if l.note > 0 {
		cells = append(cells, fit(note, l.note))
	}
	return strings.Join(append(cells, fmt.Sprintf("%*s", tookWidth, took)), repeat(" ", gap))
}

func (l eventColumns) line(e *event) string {
	s := map[string]style{"ADDED": green, "DELETED": red}[e.kind]
	note, noteStyle := e.note()
	return l.row(e.began.Local().Format("15:04:05.000")[:l.at], fmt.Sprint(e.revision), s.of(e.kind), e.subject(), e.by(), noteStyle.of(note), span(e.took))
}

// note is the word for an event that is not done, or not done well.
func (e *event) note() (string, style) {
	switch {
	case e.failed:
		return "failed", red
	case e.waiting > 0:
		return "waits", yellow
	}
	return "", plain
}

// span formats how long an event took.
func span(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// subject names the object with its kind.
func (e *event) subject() string { return e.resource + " " + e.object() }

// by describes the request.
func (e *event) by() string {
	if e.verb == "" {
		return "the server"
	}
	return e.user + ": " + e.verb
}
