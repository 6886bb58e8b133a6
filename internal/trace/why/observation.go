package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
)

// said is how many of the last lives are used.
const said = 3

// observations lists the controllers and watchers that received the last changes, with the
// controllers' results, in the order of time. Of a controller's reconciles of one key
// without writes, only the last is listed.
func observations(s *Subject) []Observation {
	var all []Observation
	lives := s.Lives[max(0, len(s.Lives)-said):]
	last := map[uint64]int64{} // a reconcile with several causes is listed at the last
	latest := map[[2]string]uint64{}
	for _, e := range lives {
		for _, w := range e.Reconciles {
			last[w.Number] = e.Revision
			who := [2]string{w.Controller, w.Key}
			latest[who] = max(latest[who], w.Number)
		}
	}
	for _, e := range lives {
		for _, w := range e.Reconciles {
			idle := len(w.Writes) == 0 && latest[[2]string{w.Controller, w.Key}] != w.Number
			if last[w.Number] != e.Revision || idle {
				continue
			}
			all = append(all, Observation{Revision: e.Revision, Who: w.Controller, Time: e.Began.Add(w.Begun), Key: w.Key, Decision: decision(w)})
		}
		for _, f := range e.Faults {
			all = append(all, Observation{Revision: e.Revision, Who: struck(f), Time: f.At, Decision: fmt.Sprintf("fault %d on purpose: %s", f.Fault, f.What)})
		}
		for _, st := range e.Waiting {
			all = append(all, Observation{Revision: e.Revision, Who: reader(st), Decision: "has not been sent it yet"})
		}
	}
	slices.SortStableFunc(all, func(a, b Observation) int { return later(a.Time, b.Time) })
	return all
}

func decision(w trace.LifeReconcile) string {
	switch {
	case w.Conflict:
		return "tried again, as somebody else wrote first: " + w.Err
	case w.Err != "" && len(w.Writes) > 0:
		return "wrote " + strings.Trim(fmt.Sprint(w.Writes), "[]") + ": " + w.Err
	case w.Err != "" && w.Failures > 1:
		return fmt.Sprintf("failed, %d times in a row: %s", w.Failures, w.Err)
	case w.Err != "":
		return "failed: " + w.Err
	case len(w.Writes) > 0:
		return "wrote " + strings.Trim(fmt.Sprint(w.Writes), "[]")
	case w.After > 0:
		return fmt.Sprintf("nothing to do, looks again after %v", w.After.Round(time.Millisecond))
	}
	return "nothing to do"
}

func reader(s trace.Stream) string {
	if s.User != "" {
		return s.User
	}
	return s.Agent
}

func struck(f trace.InjectedFault) string {
	if f.Stream != nil {
		return reader(*f.Stream)
	}
	return f.User
}

// unseen adds the reason that no controller in the trace has acted on the last change.
func (a *Explanation) unseen(s *Subject) {
	if len(s.Lives) == 0 {
		a.add("its last change is not among those whose life is kept: who saw it is not known")
		return
	}
	e := s.Lives[len(s.Lives)-1]
	if who := readers(e); len(who) > 0 {
		a.add(fmt.Sprintf("no controller has acted on revision %d; it was sent to %s", e.Revision, strings.Join(who, ", ")))
		return
	}
	a.add(fmt.Sprintf("nobody watches it: revision %d was sent to nobody", e.Revision))
}

// readers are the watchers that received an event, each once.
func readers(e show.Event) []string {
	var who []string
	seen := map[string]bool{}
	for _, d := range e.Deliveries {
		if r := reader(d.Stream); !seen[r] {
			seen[r] = true
			who = append(who, r)
		}
	}
	return who
}
