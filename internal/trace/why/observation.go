package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
)

// maxLives is how many of the last changes are used.
const maxLives = 3

// observations lists the controllers and watchers that received the last changes, with the
// controllers' results, in the order of time. Of a controller's reconciles of one key
// without writes, only the last is listed.
func observations(s *Subject) []Observation {
	var all []Observation
	lives := s.Lives[max(0, len(s.Lives)-maxLives):]
	last := map[uint64]int64{} // a reconcile with several causes is listed at the last
	latest := map[[2]string]uint64{}
	for _, e := range lives {
		for _, w := range e.Reconciles {
			last[w.Number] = e.Revision
			key := [2]string{w.Controller, w.Key}
			latest[key] = max(latest[key], w.Number)
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
			all = append(all, Observation{Revision: e.Revision, Who: faultTarget(f), Time: f.At, Decision: fmt.Sprintf("injected fault %d: %s", f.Fault, f.What)})
		}
		for _, st := range e.Waiting {
			all = append(all, Observation{Revision: e.Revision, Who: watcher(st), Decision: "not sent yet"})
		}
	}
	slices.SortStableFunc(all, func(a, b Observation) int { return later(a.Time, b.Time) })
	return all
}

// decision is the result of a reconcile.
func decision(w trace.LifeReconcile) string {
	switch {
	case w.Conflict:
		return "retried after a conflict with another write: " + w.Err
	case w.Err != "" && len(w.Writes) > 0:
		return "wrote " + strings.Trim(fmt.Sprint(w.Writes), "[]") + ": " + w.Err
	case w.Err != "" && w.Failures > 1:
		return fmt.Sprintf("failed, %d times in a row: %s", w.Failures, w.Err)
	case w.Err != "":
		return "failed: " + w.Err
	case len(w.Writes) > 0:
		return "wrote " + strings.Trim(fmt.Sprint(w.Writes), "[]")
	case w.After > 0:
		return fmt.Sprintf("no change, requeued after %v", w.After.Round(time.Millisecond))
	}
	return "no change"
}

func watcher(s trace.Stream) string {
	if s.User != "" {
		return s.User
	}
	return s.Agent
}

// faultTarget is the client that a fault affected.
func faultTarget(f trace.InjectedFault) string {
	if f.Stream != nil {
		return watcher(*f.Stream)
	}
	return f.User
}

// hold is an injected fault that holds the last change back from a watch that has not been sent it yet, or nil.
func (s *Subject) hold() *trace.InjectedFault {
	if len(s.Lives) == 0 {
		return nil
	}
	e := s.Lives[len(s.Lives)-1]
	for i, f := range e.Faults {
		held := func(st trace.Stream) bool { return st.ID == f.Stream.ID }
		if f.Action == "hold" && f.Stream != nil && slices.ContainsFunc(e.Waiting, held) {
			return &e.Faults[i]
		}
	}
	return nil
}

// noController adds the reason that no controller in the trace has acted on the last change, unless that is a kubelet's, which
// reports and does not ask for anything.
func (a *Explanation) noController(s *Subject) {
	if len(s.Lives) == 0 {
		a.Reasons = append(a.Reasons, "the trace no longer has its last change, so the controllers that received it are not known")
		return
	}
	e := s.Lives[len(s.Lives)-1]
	if strings.HasPrefix(e.User, "system:node:") {
		return
	}
	if all := watchers(e); len(all) > 0 {
		a.Reasons = append(a.Reasons, fmt.Sprintf("no controller has acted on revision %d; it was sent to %s", e.Revision, strings.Join(all, ", ")))
		return
	}
	a.Reasons = append(a.Reasons, fmt.Sprintf("it has no watchers: revision %d was not sent to any client", e.Revision))
}

// watchers are the watchers that received an event, each once.
func watchers(e show.Event) []string {
	var all []string
	seen := map[string]bool{}
	for _, d := range e.Deliveries {
		if r := watcher(d.Stream); !seen[r] {
			seen[r] = true
			all = append(all, r)
		}
	}
	return all
}
