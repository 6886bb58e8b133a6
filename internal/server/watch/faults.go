package watch

import (
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
	"fairlead.dev/watchcache"
)

// watchFaults is a source of which injected faults hold events back. It belongs to the
// goroutine or connection that serves the watch, except dropped, which is atomic.
type watchFaults struct {
	source
	from    *watchcache.Watcher
	set     *faults.Set
	log     *trace.Log
	reorder *reordering
	who     *trace.Stream
	// kept are events that have been read and not been shown, progress how far has been read.
	kept     []watchcache.Event
	progress storage.Revision
	// reached is the revision of the last event shown, noted that of the last one known to be
	// held back, passed that of the last one that may be shown.
	reached, noted, passed storage.Revision
	due                    []due
	// open bounds the events of the present turn.
	open opening
	// dropped: a fault has cut the stream off.
	dropped atomic.Bool
}

// due is the time from which the events up to a revision may be shown.
type due struct {
	revision storage.Revision
	at       time.Time
}

// opening bounds the events that a turn may show.
type opening struct {
	upTo storage.Revision
	// shut: the turn may not even show the state that the watch begins with. paused: no
	// events; the first one ends the watch.
	shut, paused bool
	// then, if set, is called at the end of the turn.
	then func()
}

// target is the stream as faults select it.
func (f *watchFaults) target() faults.Target {
	return faults.Target{User: f.who.User, Agent: f.who.Agent, Resource: f.who.Resource, Namespace: f.who.Namespace}
}

func (f *watchFaults) begin() (bool, error) {
	if f.dropped.Load() {
		return false, http.ErrAbortHandler
	}
	f.open = f.decide()
	ready, err := f.source.begin()
	return ready && !f.open.shut, err
}

// decide returns the bounds of this turn.
func (f *watchFaults) decide() opening {
	fault, ok := f.set.Watch(f.target())
	switch {
	case !ok:
		f.due = nil
		f.reorder.forget(f)
		return opening{upTo: math.MaxInt64}
	case fault.Action == faults.Pause:
		return opening{upTo: math.MaxInt64, paused: true}
	}
	now := time.Now()
	fresh := f.from.After(max(f.reached, f.noted))
	for _, rev := range fresh {
		f.noted = rev
		what := "held back"
		if fault.Delay > 0 {
			what = fmt.Sprintf("held back for %v at most", time.Duration(fault.Delay))
		}
		f.note(fault, rev, what)
	}
	set := f.set
	set.Strikes(fault.ID, len(fresh))
	if fault.Action == faults.Hold {
		return opening{shut: true}
	}
	if len(fresh) > 0 {
		f.due = append(f.due, due{f.noted, now.Add(time.Duration(fault.Delay))})
		time.AfterFunc(time.Duration(fault.Delay), f.from.Ring)
	}
	for len(f.due) > 0 && !now.Before(f.due[0].at) {
		f.passed, f.due = f.due[0].revision, f.due[1:]
	}
	open := opening{upTo: f.passed}
	if fault.Action == faults.Reorder {
		f.reorder.overtake(f, &open)
	}
	return open
}

func (f *watchFaults) note(fault faults.Fault, rev storage.Revision, what string) {
	f.log.FaultInjected(trace.InjectedFault{
		Fault: fault.ID, Action: string(fault.Action), What: what, Revision: int64(rev), Stream: f.who,
	})
}

func (f *watchFaults) next() (events []watchcache.Event, progress storage.Revision, err error) {
	if len(f.kept) == 0 {
		if f.kept, f.progress, err = f.source.next(); err != nil {
			return nil, 0, err
		}
	}
	if f.open.paused && len(f.kept) > 0 {
		return nil, 0, f.forgotten()
	}
	n := 0
	for n < len(f.kept) && f.kept[n].Revision <= f.open.upTo {
		n++
	}
	events, f.kept = f.kept[:n:n], f.kept[n:]
	if len(f.kept) > 0 { // a bookmark must not cover events that are held back
		return events, 0, nil
	}
	return events, f.progress, nil
}

// forgotten is the error of a watch whose history is paused.
func (f *watchFaults) forgotten() error {
	fault, _ := f.set.Watch(f.target())
	for _, e := range f.kept {
		f.note(fault, e.Revision, "forgotten: 410")
	}
	f.set.Strikes(fault.ID, len(f.kept))
	return fmt.Errorf("the history is paused: %w", storage.ErrCompacted)
}

func (f *watchFaults) shown(events []watchcache.Event) {
	f.reached = events[len(events)-1].Revision
	f.source.shown(events)
}

func (f *watchFaults) end(now time.Time) {
	f.source.end(now)
	if then := f.open.then; then != nil {
		f.open.then = nil
		then()
	}
}

func (f *watchFaults) close() {
	f.reorder.forget(f)
	f.source.close()
}
