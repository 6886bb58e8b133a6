package source

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

// Faults decorates a source: injected faults hold its events back.
type Faults struct {
	Source
	from    *watchcache.Watcher
	set     *faults.Set
	log     *trace.Log
	reorder *Reordering
	client  *trace.Stream
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

// NewFaults returns src, which reads from a watcher, with the faults of a set. Streams with the same
// reordering overtake one another. log may be nil.
func NewFaults(src Source, from *watchcache.Watcher, set *faults.Set, log *trace.Log, reorder *Reordering, client *trace.Stream) *Faults {
	return &Faults{Source: src, from: from, set: set, log: log, reorder: reorder, client: client}
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
	// rung are the streams to ring at the end of the turn.
	rung []*watchcache.Watcher
}

// Target is the stream as faults select it. Any goroutine may call it.
func (f *Faults) Target() faults.Target {
	return faults.Target{User: f.client.User, Agent: f.client.Agent, Resource: f.client.Resource, Namespace: f.client.Namespace}
}

// Drop cuts the stream off. Any goroutine may call it; it then rings the stream.
func (f *Faults) Drop(fault uint64) {
	f.note(faults.Fault{ID: fault, Action: faults.Drop}, 0, "cut off")
	f.dropped.Store(true)
}

// Dropped reports whether a fault has cut the stream off. Any goroutine may call it.
func (f *Faults) Dropped() bool { return f.dropped.Load() }

// Begin implements Source.
func (f *Faults) Begin() (bool, error) {
	if f.dropped.Load() {
		return false, http.ErrAbortHandler
	}
	f.open = f.decide()
	ready, err := f.Source.Begin()
	return ready && !f.open.shut, err
}

// decide returns the bounds of this turn.
func (f *Faults) decide() opening {
	fault, ok := f.set.Watch(f.Target())
	switch {
	case !ok:
		f.due = nil
		f.reorder.forget(f.from)
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
	f.set.Strikes(fault.ID, len(fresh))
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
		open.upTo, open.rung = f.reorder.overtake(f.from, f.reached, open.upTo)
	}
	return open
}

func (f *Faults) note(fault faults.Fault, rev storage.Revision, what string) {
	f.log.FaultInjected(trace.InjectedFault{
		Fault: fault.ID, Action: string(fault.Action), What: what, Revision: int64(rev), Stream: f.client,
	})
}

// Next implements Source.
func (f *Faults) Next() (events []watchcache.Event, progress storage.Revision, err error) {
	if len(f.kept) == 0 {
		if f.kept, f.progress, err = f.Source.Next(); err != nil {
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
func (f *Faults) forgotten() error {
	fault, _ := f.set.Watch(f.Target())
	for _, e := range f.kept {
		f.note(fault, e.Revision, "forgotten: 410")
	}
	f.set.Strikes(fault.ID, len(f.kept))
	return fmt.Errorf("the history is paused: %w", storage.ErrCompacted)
}

// Shown implements Source.
func (f *Faults) Shown(events []watchcache.Event) {
	f.reached = events[len(events)-1].Revision
	f.Source.Shown(events)
}

// End implements Source.
func (f *Faults) End(now time.Time) {
	f.Source.End(now)
	rung := f.open.rung
	f.open.rung = nil
	for _, w := range rung {
		w.Ring()
	}
}

// Close implements Source.
func (f *Faults) Close() {
	f.reorder.forget(f.from)
	f.Source.Close()
}
