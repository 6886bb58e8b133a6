package server

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// sieve is what faults keep back of a stream. It belongs to who runs the stream, but for
// dropped.
type sieve struct {
	who *trace.Stream // nil if faults are not allowed
	// reached is the last event that was shown, noted the last one that is known to be
	// kept back, passed the last one that may be shown.
	reached, noted, passed storage.Revision
	due                    []due
	// dropped: a fault has cut the stream off.
	dropped atomic.Bool
}

// due says when the events up to a revision may be shown.
type due struct {
	revision storage.Revision
	at       time.Time
}

// opening is what the sieve lets through in one turn.
type opening struct {
	upTo storage.Revision
	// shut lets nothing through, not even the state that the watch begins with.
	shut, paused bool
	// then, if set, is to be called when all of it is framed.
	then func()
}

var wide = opening{upTo: math.MaxInt64}

// target is the stream as faults select it.
func (s *sieve) target() faults.Target {
	return faults.Target{User: s.who.User, Agent: s.who.Agent, Resource: s.who.Resource, Namespace: s.who.Namespace}
}

// sift says what of the stream may be shown now.
func (st *stream) sift() (opening, error) {
	set := st.s.cfg.Faults
	if set == nil {
		return wide, nil
	}
	v := &st.sieve
	if v.dropped.Load() {
		return opening{}, http.ErrAbortHandler
	}
	if st.from == nil {
		return wide, nil
	}
	f, ok := set.Watch(v.target())
	if !ok {
		v.due = nil
		st.s.streams.kept.forget(st)
		return wide, nil
	}
	if f.Action == faults.Pause {
		return opening{upTo: math.MaxInt64, paused: true}, nil
	}
	now := time.Now()
	fresh := st.from.After(max(v.reached, v.noted))
	for _, rev := range fresh {
		v.noted = rev
		what := "held back"
		if f.Delay > 0 {
			what = fmt.Sprintf("held back for %v at most", time.Duration(f.Delay))
		}
		st.struck(f, rev, what)
	}
	set.Strikes(f.ID, len(fresh))
	if f.Action == faults.Hold {
		return opening{shut: true}, nil
	}
	if len(fresh) > 0 {
		v.due = append(v.due, due{v.noted, now.Add(time.Duration(f.Delay))})
		time.AfterFunc(time.Duration(f.Delay), st.from.Ring)
	}
	for len(v.due) > 0 && !now.Before(v.due[0].at) {
		v.passed, v.due = v.due[0].revision, v.due[1:]
	}
	open := opening{upTo: v.passed}
	if f.Action == faults.Reorder {
		st.overtake(&open)
	}
	return open, nil
}

func (st *stream) struck(f faults.Fault, rev storage.Revision, what string) {
	st.s.cfg.Trace.FaultInjected(trace.InjectedFault{
		Fault: f.ID, Action: string(f.Action), What: what, Revision: int64(rev), Stream: st.sieve.who,
	})
}

// forgotten is why a stream ends whose history is paused.
func (st *stream) forgotten() error {
	f, _ := st.s.cfg.Faults.Watch(st.sieve.target())
	for _, e := range st.left {
		st.struck(f, e.Revision, "forgotten: 410")
	}
	st.s.cfg.Faults.Strikes(f.ID, len(st.left))
	return fmt.Errorf("the history is paused: %w", storage.ErrCompacted)
}

// kept are the streams that are to be overtaken, each with the first event that it keeps
// back.
type kept struct {
	mu    sync.Mutex
	first map[*stream]storage.Revision
	// passed is how far one may go that was overtaken.
	passed map[*stream]storage.Revision
}

// overtake lets a stream go that keeps back events later than another does, and the other
// one after it; one that keeps back the earliest waits to be overtaken.
func (st *stream) overtake(open *opening) {
	k, v := &st.s.streams.kept, &st.sieve
	k.mu.Lock()
	defer k.mu.Unlock()
	open.upTo = max(open.upTo, k.passed[st])
	waits := st.from.After(max(v.reached, open.upTo))
	delete(k.first, st)
	if len(waits) == 0 {
		return
	}
	var behind, ahead []*stream
	for other, rev := range k.first {
		switch {
		case rev < waits[0]:
			behind = append(behind, other)
		case rev > waits[0]:
			ahead = append(ahead, other)
		}
	}
	if k.first == nil {
		k.first, k.passed = map[*stream]storage.Revision{}, map[*stream]storage.Revision{}
	}
	if len(behind) == 0 {
		k.first[st] = waits[0]
		open.then = ringing(ahead) // which came before this one knew
		return
	}
	last := waits[len(waits)-1]
	open.upTo = last
	for _, other := range behind {
		k.passed[other] = max(k.passed[other], last)
		delete(k.first, other)
	}
	open.then = ringing(behind)
}

func ringing(all []*stream) func() {
	if len(all) == 0 {
		return nil
	}
	return func() {
		for _, st := range all {
			st.from.Ring()
		}
	}
}

func (k *kept) forget(st *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.first, st)
	delete(k.passed, st)
}
