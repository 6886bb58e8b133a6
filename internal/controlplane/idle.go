package controlplane

import (
	"context"
	"math"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// activity is the work that the parts of a client side have at one moment.
type activity struct {
	// busy reports that a key waits or is being worked on, or that a part starts.
	busy bool
	// volatile reports that a key is delayed until a time that a restart would forget, and next is the time until the first
	// other delayed key is ready, never without one.
	volatile bool
	next     time.Duration
}

// never is longer than any delay.
const never = time.Duration(math.MaxInt64)

// activityOf reads the queues that the parts have registered with a trace.
func activityOf(l *trace.Log) activity {
	a := activity{next: never}
	for _, q := range l.Queues() {
		a.busy = a.busy || q.Depth > 0 || q.Working > 0
		switch {
		case q.Delayed == 0:
		case q.Volatile:
			a.volatile = true
		default:
			a.next = min(a.next, q.Next)
		}
	}
	return a
}

// idleState is whether a control plane is idle, and until when.
type idleState struct {
	idle bool
	// until is the time of the first delayed key; zero without one.
	until time.Time
}

func idleUntil(next time.Duration) idleState {
	if next == never {
		return idleState{idle: true}
	}
	return idleState{idle: true, until: time.Now().Add(next)}
}

const (
	// settleTime is how long a control plane has to be idle until it is settled, settlePatience how long settle waits for
	// that, and settleCheck the time between two checks.
	settleTime     = 100 * time.Millisecond
	settlePatience = 5 * time.Second
	settleCheck    = 10 * time.Millisecond
)

// settle waits, for a limited time, until the client side is idle.
func (cp *ControlPlane) settle(ctx context.Context) idleState {
	checks, wanted := 0, int(settleTime/settleCheck)
	t := time.NewTicker(settleCheck)
	defer t.Stop()
	last := cp.store.Revision()
	for range int(settlePatience / settleCheck) {
		r, now := cp.idleState(), cp.store.Revision()
		if checks++; !r.idle || now != last {
			checks, last = 0, now
		}
		if checks == wanted {
			return r
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return idleState{}
		}
	}
	return idleState{}
}

// idleState returns whether the client side is idle now, except for events that are on their way to it.
func (cp *ControlPlane) idleState() idleState {
	if len(cp.parts()) == 0 {
		return idleState{idle: true}
	}
	if cp.options.Trace == nil {
		return idleState{} // it is not known
	}
	if r, _, asleep := cp.sleeper.idleState(); asleep {
		return r
	}
	if a := activityOf(cp.options.Trace); !a.busy && !a.volatile && cp.building.Load() == 0 {
		return idleUntil(a.next)
	}
	return idleState{}
}

// sleptAt returns whether the client side slept at a revision. If it is awake, an event may be on its way to it.
func (cp *ControlPlane) sleptAt(revision storage.Revision) idleState {
	if len(cp.parts()) == 0 {
		return idleState{idle: true}
	}
	if r, at, asleep := cp.sleeper.idleState(); asleep && at == revision {
		return r
	}
	return idleState{}
}
