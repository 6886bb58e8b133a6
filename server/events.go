package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// LivesPath answers with the lives of events, by package trace, as JSON objects, one a line.
// Parameters: resource ("deployments.apps"), namespace, name, from and to (revisions), since
// and slow (durations), limit, tree (a revision: the event and all that came of it), follow,
// settled (how long after its last hop a follower is sent an event, a duration; 300 ms, or a
// second while other processes report), faults (also injected faults that concern no event, as
// {"fault": trace.InjectedFault}), output (otlp: all in one request for an OpenTelemetry
// collector, in JSON, in place of lines). A POST takes the trace.Report of another process.
const LivesPath = trace.Path

// settled is the time without news after which a follower is sent a life.
const settled = 300 * time.Millisecond

// settledApart is settled while other processes report.
const settledApart = time.Second

// waiting is a life with the streams that it has not been sent to.
type waiting struct {
	trace.Life
	Waiting []trace.Stream `json:"waiting,omitempty"`
}

// slow reports whether an event has taken as long as d, or has waited so long.
func (w *waiting) slow(d time.Duration) bool {
	return w.Duration() >= d || slices.ContainsFunc(w.Waiting, func(s trace.Stream) bool { return s.Since(w.Began) >= d })
}

// mayBeSlow reports whether an event still waits and is not slow yet.
func (w *waiting) mayBeSlow(d time.Duration) bool { return len(w.Waiting) > 0 && !w.slow(d) }

// lives serves LivesPath.
func (c *serving) lives() error {
	l := c.s.cfg.Trace
	if l == nil {
		return apistatus.ErrPathNotFound
	}
	if c.HTTP.Method == http.MethodPost {
		return c.receiveReport(l)
	}
	f, root, hurry, err := livesFilter(c.Query)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	switch output := c.Query.Get("output"); {
	case output == "otlp" && c.Query.Get("follow") == "":
		return c.otlp(l, f, root)
	case output != "":
		return apierrors.NewBadRequest(fmt.Sprintf("output=%q: want otlp, without follow", output))
	}
	c.Writer.Header().Set("Content-Type", "application/jsonl")
	out := json.NewEncoder(c.Writer)
	told := uint64(0)
	strikes := func() error { return nil }
	if c.Query.Get("faults") != "" {
		alone := f
		if c.Query.Get("follow") != "" && f.Since.IsZero() {
			_, told = l.InjectedFaults(alone, told)
		}
		strikes = func() (err error) {
			var all []trace.InjectedFault
			all, told = l.InjectedFaults(alone, told)
			for i := range all {
				if err := out.Encode(struct {
					Fault *trace.InjectedFault `json:"fault"`
				}{&all[i]}); err != nil {
					return err
				}
			}
			if len(all) > 0 {
				return c.Writer.FlushError()
			}
			return nil
		}
	}
	slow := f.Slow
	f.Slow = 0 // an event that has not been sent yet counts as slow, though no hop has taken long
	tell := func(lives []waiting) error {
		for _, lf := range lives {
			if root == 0 && !lf.slow(slow) {
				continue
			}
			if err := out.Encode(lf); err != nil {
				return nil // the client has gone
			}
		}
		return c.Writer.FlushError()
	}
	if root != 0 {
		return tell(c.s.waiting(l.Tree(root)))
	}
	if c.Query.Get("follow") == "" {
		if err := tell(c.s.waiting(l.Lives(f))); err != nil {
			return nil
		}
		_ = strikes() // the client has gone
		return nil
	}
	if f.Since.IsZero() && f.From == 0 {
		f.From = l.Newest() + 1
	}
	c.Writer.WriteHeader(http.StatusOK)
	c.Writer.Flush()
	for {
		changed := l.Changed()
		if strikes() != nil {
			return nil
		}
		lives := c.s.waiting(l.Lives(f))
		settled := settled
		switch {
		case hurry != nil:
			settled = *hurry
		case l.HasReports():
			settled = settledApart
		}
		quiet := time.Now().Add(-settled)
		n := 0
		for n < len(lives) && (settled == 0 || lives[n].Began.Add(lives[n].Duration()).Before(quiet)) && !lives[n].mayBeSlow(slow) {
			n++
		}
		if n > 0 {
			if err := tell(lives[:n]); err != nil {
				return nil
			}
			f.From = lives[n-1].Revision + 1
		}
		var later <-chan time.Time
		if n < len(lives) {
			later, changed = time.After(max(settled, time.Millisecond)), nil
		}
		select {
		case <-changed:
		case <-later:
		case <-c.Context.Done():
			return nil
		}
	}
}

// otlp answers with lives as the spans of an OpenTelemetry trace.
func (c *serving) otlp(l *trace.Log, f trace.Filter, root int64) error {
	lives := l.Lives
	if root != 0 {
		lives = func(trace.Filter) []trace.Life { return l.Tree(root) }
	}
	var events []show.Event
	for _, lf := range lives(f) {
		events = append(events, show.Event{Life: lf})
	}
	request, err := new(show.Exporter).Request(events)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Content-Type", "application/json")
	_, _ = c.Writer.Write(request) // fails if the client has gone
	return nil
}

// maxReport bounds the bytes of a report.
const maxReport = 1 << 20

// receiveReport enters the report of another process into the trace.
func (c *serving) receiveReport(l *trace.Log) error {
	var r trace.Report
	if err := json.NewDecoder(http.MaxBytesReader(c.Writer, c.HTTP.Body, maxReport)).Decode(&r); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := l.ReceiveReport(&r); err != nil {
		return apistatus.New(http.StatusConflict, metav1.StatusReasonConflict, err.Error())
	}
	c.Writer.WriteHeader(http.StatusNoContent)
	return nil
}

// livesFilter reads the parameters. settled is nil if it is not among them.
func livesFilter(q url.Values) (f trace.Filter, root int64, settled *time.Duration, err error) {
	f.Resource, f.Namespace, f.Name = q.Get("resource"), q.Get("namespace"), q.Get("name")
	number := func(key string) (n int64) {
		if text := q.Get(key); text != "" && err == nil {
			if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
				err = fmt.Errorf("%s=%q: want a number", key, text)
			}
		}
		return n
	}
	span := func(key string) (d time.Duration) {
		if text := q.Get(key); text != "" && err == nil {
			if d, err = time.ParseDuration(text); err != nil || d < 0 {
				err = fmt.Errorf("%s=%q: want a duration such as 50ms", key, text)
			}
		}
		return d
	}
	f.From, f.To, f.Limit, root = number("from"), number("to"), int(number("limit")), number("tree")
	if d := span("since"); d > 0 {
		f.Since = time.Now().Add(-d)
	}
	f.Slow = span("slow")
	if q.Has("settled") {
		d := span("settled")
		settled = &d
	}
	return f, root, settled, err
}

// waiting adds to lives the streams that select them and have not been sent them.
func (s *Server) waiting(lives []trace.Life) []waiting {
	out := make([]waiting, len(lives))
	at := make(map[storage.Revision]int, len(lives))
	for n, lf := range lives {
		out[n].Life = lf
		at[storage.Revision(lf.Revision)] = n
	}
	s.streams.Traced(func(client *trace.Stream, _ int64, waiting []storage.Revision) bool {
		for _, rev := range waiting {
			if n, ok := at[rev]; ok {
				out[n].Waiting = append(out[n].Waiting, *client)
			}
		}
		return true
	})
	return out
}
