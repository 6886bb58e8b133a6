package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/trace"
)

// Event is a life with the streams that still wait for it, as a server sends it.
type Event struct {
	trace.Life
	Waiting []trace.Stream `json:"waiting,omitempty"`
	// Fault, if set, is an injected fault without an event; all other fields are empty.
	Fault *trace.InjectedFault `json:"fault,omitempty"`
}

// row is a line of a waterfall: a step with its begin and its end.
type row struct {
	name     string
	from, to time.Duration
	note     string
}

// Waterfall writes one life: a line for each hop, stream, informer and reconcile, with the
// time since the event began and a bar for how long the step took. It fits a terminal of a
// number of columns, 0 for output that is not cut.
func Waterfall(w io.Writer, e Event, p Palette, columns int) error {
	l := layoutFor(columns)
	var b strings.Builder
	if e.Fault != nil {
		fmt.Fprintf(&b, "%s  %s\n", p.late(faultLine(*e.Fault)), p.dim(e.Fault.At.Local().Format("15:04:05.000")))
		_, err := io.WriteString(w, b.String())
		return err
	}
	began := e.Began.Local().Format("15:04:05.000")
	title := Title(e.Life)
	if columns > 0 {
		title = clip(title, max(columns-len(began)-2, 8))
	}
	fmt.Fprintf(&b, "%s  %s\n", p.bold(title), p.dim(began))
	fmt.Fprintf(&b, "%s\n", p.dim(l.fit("  "+origin(e.Life))))
	total := max(e.Duration(), 1)
	for _, r := range rows(e) {
		b.WriteString(l.row(r, total))
	}
	for _, s := range e.Waiting {
		fmt.Fprintf(&b, "%s\n", p.late(l.fit(fmt.Sprintf("  %-*s not sent yet, %s so far", l.name, clip("-> "+reader(s), l.name), span(s.Since(e.Began))))))
	}
	for _, s := range e.Faults {
		fmt.Fprintf(&b, "%s\n", p.late(l.fit("  "+faultLine(s))))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// faultLine describes an injected fault and the client that it affected.
func faultLine(s trace.InjectedFault) string {
	text := fmt.Sprintf("fault %d, %s: ", s.Fault, s.Action)
	switch {
	case s.Stream != nil:
		text += "-> " + reader(*s.Stream) + " "
		if s.Revision == 0 {
			text += "of " + s.Stream.Resource + " "
		}
	case s.Verb != "":
		text += s.Verb + " "
		if s.Subresource != "" {
			text += s.Subresource + " of "
		}
		text += strings.TrimRight(s.Resource+" "+strings.Trim(s.Namespace+"/"+s.Name, "/"), " ") + " by " + s.User + " "
	}
	return text + s.What
}

// Title names an event: "519 MODIFIED deployments.apps default/web".
func Title(lf trace.Life) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s %s", lf.Revision, lf.Type, lf.Resource, object(lf)))
}

func object(lf trace.Life) string {
	if lf.Namespace == "" {
		return lf.Name
	}
	return lf.Namespace + "/" + lf.Name
}

// origin describes the request that wrote an event, and its causes.
func origin(lf trace.Life) string {
	if lf.Verb == "" {
		return "written by the server itself"
	}
	s := lf.Verb
	if lf.Subresource != "" {
		s += " of " + lf.Subresource
	}
	s += " by " + lf.User
	if lf.Agent != "" {
		s += " with " + lf.Agent
	}
	if len(lf.Causes) > 0 {
		s += ", because of " + numbers(lf.Causes)
	}
	return s
}

func rows(e Event) []row {
	var rows []row
	before := time.Duration(0)
	for _, h := range e.Hops {
		r := row{name: h.Hop, from: before, to: h.At}
		if h.Hop == trace.Cached.String() {
			r.note = fmt.Sprintf("%d watched selections", e.Topics)
			if e.Topics == 1 {
				r.note = "1 watched selection"
			}
		}
		rows = append(rows, r)
		before = h.At
	}
	for _, d := range e.Deliveries {
		r := row{name: "-> " + reader(d.Stream), from: d.After(d.Framed), to: d.After(d.Flushed)}
		if d.Replayed > 0 {
			r.note = "replayed to a watch opened " + span(d.Replayed) + " later"
		}
		if d.Flushed == 0 {
			r.to, r.note = r.from, "not written yet"
		}
		rows = append(rows, r)
	}
	for _, a := range e.Arrivals {
		r := row{name: "<- informer of " + a.Resource + selection(a.Namespace, "", a.Labels, a.Fields), from: a.Read - a.Replayed, to: a.Stored - a.Replayed}
		note := []string{apart(a.Process, a.Within)}
		if a.Process == "" {
			note[0] = Program(a.Agent)
		}
		if a.Replayed > 0 {
			note = append(note, "replayed to a watch opened "+span(a.Replayed)+" later")
		}
		r.note = join(note...)
		rows = append(rows, r)
	}
	for _, w := range e.Reconciles {
		rows = append(rows, working(w)...)
	}
	return rows
}

// Program is the program's name in a user agent, without its version. For parts of this
// server it is the user behind the program, which stands in parentheses.
func Program(agent string) string {
	if _, user, ok := strings.Cut(agent, "("); ok && strings.HasPrefix(agent, "fairlead/") {
		return strings.TrimSuffix(user, ")")
	}
	name, _, _ := strings.Cut(agent, " ")
	return name
}

// join joins the non-empty parts with commas.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// apart names the process of an entry and the maximum error of its times.
func apart(process string, within time.Duration) string {
	if process == "" {
		return ""
	}
	return "in " + process + ", " + span(within) + " late at most"
}

func working(w trace.LifeReconcile) []row {
	var rows []row
	if w.Queued != 0 {
		rows = append(rows, row{name: "   " + w.Controller + ": queued " + w.Key, from: w.Queued - w.Replayed, to: w.Since(w.Begun), note: putOff(w.Delayed)})
	}
	note, found := "", ""
	if w.Replayed > 0 {
		found = "found when it began, " + span(w.Replayed) + " later"
	}
	switch {
	case w.Conflict:
		note = "conflict, tried again: " + w.Err
	case w.Err != "":
		note = "failed: " + w.Err
	case len(w.Writes) > 0:
		note = "wrote " + numbers(w.Writes)
	}
	return append(rows, row{name: "   " + w.Controller + ": " + w.Key, from: w.Since(w.Begun), to: w.Since(w.Ended), note: join(note, found, apart(w.Process, w.Within))})
}

// putOff describes a delay that a controller wanted.
func putOff(d time.Duration) string {
	if d < time.Millisecond {
		return ""
	}
	return "put off for " + span(d) + " by the controller"
}

// reader describes a stream's user and selection.
func reader(s trace.Stream) string {
	who := s.User
	if who == "" {
		who = s.Agent
	}
	return who + selection(s.Namespace, s.Name, s.Labels, s.Fields)
}

func selection(namespace, name, labels, fields string) string {
	var parts []string
	for _, s := range []string{namespace, name, labels, fields} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, " ") + ")"
}

// numbers lists revisions, the first few of them.
func numbers(revs []int64) string {
	const most = 5
	var b strings.Builder
	for i, rev := range revs {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(revs)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, rev)
	}
	return b.String()
}
